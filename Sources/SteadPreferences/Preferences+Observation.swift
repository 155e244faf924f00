import Foundation
import Observation
import Synchronization

extension Preferences {
  /// Calls a handler with each change of a key's effective value.
  ///
  /// A write that changes nothing, or that an earlier domain in the search list hides, isn't a
  /// change. Changes by other processes and edits of the file are delivered as they occur, without
  /// polling.
  ///
  /// Changes are delivered one after the other, in order: this process's own on the thread that
  /// made them, or on one that is delivering an earlier change at that time; others on a background
  /// thread. A handler may set preferences; observers are notified of that after it has returned.
  /// Two handlers that keep undoing each other's changes never end. An observation that begins
  /// while earlier changes of its key are still being delivered receives those, too.
  ///
  /// The cost of a write grows with the observers of its keys, not with those of other keys.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes by other processes only.
  ///   - handler: The function to call. It is released when the observation ends.
  /// - Returns: An object that keeps the observation alive; keep it.
  public func observe(
    _ key: String, includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observe([key], includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of one of several keys, once for each key that changed.
  ///
  /// Otherwise it works as ``observe(_:includingOwn:_:)-(String,_,_)``.
  public func observe(
    _ keys: [String], includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(keys, includingOwn: includingOwn, handler)
  }

  /// Calls a handler with each change of any key.
  ///
  /// Otherwise it works as ``observe(_:includingOwn:_:)-(String,_,_)``. Each key that changed is
  /// remembered with its value until the observation ends.
  public func observe(
    includingOwn: Bool = true,
    _ handler: @escaping @Sendable (PreferenceChange<PropertyList?>) -> Void
  ) -> PreferenceObservation {
    observers.observe(nil, includingOwn: includingOwn, handler)
  }

  /// The changes of a key as an asynchronous sequence, which begins with this call.
  ///
  /// ```swift
  /// for await change in preferences.changes(for: "theme") {
  ///   redraw(theme: change.new)
  /// }
  /// ```
  ///
  /// See ``PreferenceChanges`` for what a slow consumer gets.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - includingOwn: false for changes by other processes only.
  public func changes(for key: String, includingOwn: Bool = true) -> PreferenceChanges {
    changes(for: [key], includingOwn: includingOwn)
  }

  /// The changes of several keys as an asynchronous sequence, one element per changed key.
  public func changes(for keys: [String], includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(keys, includingOwn: includingOwn, handler)
    }
  }

  /// The changes of all keys as an asynchronous sequence.
  public var changes: PreferenceChanges { changes() }

  /// The changes of all keys as an asynchronous sequence.
  ///
  /// - Parameter includingOwn: false for changes by other processes only.
  public func changes(includingOwn: Bool = true) -> PreferenceChanges {
    PreferenceChanges { [observers] handler in
      observers.observe(nil, includingOwn: includingOwn, handler)
    }
  }

  // MARK: - Notification

  /// Posted on the writing thread after each write, or removal, through this process's preferences.
  ///
  /// The object is the preferences that were written. The notification has no user info, and is
  /// also posted for a write that changes nothing. Changes by other processes are not posted, as on
  /// Apple's systems; for those see ``observe(_:includingOwn:_:)-(String,_,_)``.
  ///
  /// Posting costs more than a write does, so it begins when this name is first used. A program
  /// that observes the notification without it, by its string or for all names, has to read this
  /// property once.
  public static var didChangeNotification: Notification.Name {
    // A load first: storing at each use would make the cache line bounce between threads.
    if !isNotificationNamed.load(ordering: .relaxed) {
      isNotificationNamed.store(true, ordering: .relaxed)
    }
    return changeName
  }

  /// Posts ``didChangeNotification``, if the program has asked for its name.
  ///
  /// Posting takes most of the time of a write, and in the child of a fork the center's lock may be
  /// held forever.
  func postChange() {
    guard isNotificationNamed.load(ordering: .relaxed) else { return }
    NotificationCenter.default.post(name: changeName, object: self)
  }
}

private let changeName = Notification.Name("NSUserDefaultsDidChangeNotification")

/// Whether the program has read the notification's name. Without it, it can hardly wait for the
/// notification.
private let isNotificationNamed = Atomic<Bool>(false)

// MARK: - Tracking by Observation

/// Detects whether Observation tracks a read, for which it has no function.
///
/// `access(_:keyPath:)` inserts the key path into a set, but only while a tracking closure runs.
/// This type is an argument of the key path, so it is hashed exactly then. If another thread is
/// being tracked at that moment, an untracked read looks tracked, which costs time and a
/// ``TrackedKey``, and is otherwise harmless.
struct TrackingProbe: Hashable {
  /// How often Observation has inserted a probe's key path, in all threads.
  static let count = Atomic<Int>(0)

  static let keyPath: KeyPath<Preferences, Void> & Sendable = \Preferences.[TrackingProbe()]

  static func == (left: TrackingProbe, right: TrackingProbe) -> Bool { true }

  func hash(into hasher: inout Hasher) { Self.count.add(1, ordering: .relaxed) }
}

extension Preferences: Observable {
  /// Never read; only its key path matters.
  subscript(probe: TrackingProbe) -> Void { () }

  /// Registers a read with Observation if it tracks; called before the value is read. About 8 ns
  /// when nothing tracks.
  @inline(__always)
  func track(_ key: String) {
    // The probe's hash is counted if, and only if, Observation inserts the key path into its set.
    let before = TrackingProbe.count.load(ordering: .relaxed)
    readTracker.recordRead(of: self)
    if TrackingProbe.count.load(ordering: .relaxed) != before { observers.track(ExactKey(key)) }
  }
}

/// Reports reads of preferences to Observation without retaining a registrar or a key path:
/// counting their references would double the time of a read.
final class ReadTracker: Sendable {
  // Allocated once and never changed; a registrar is thread-safe.
  nonisolated(unsafe) private let registrar: UnsafeMutablePointer<ObservationRegistrar>
  private let probe: Unmanaged<KeyPath<Preferences, Void> & Sendable>

  init() {
    registrar = .allocate(capacity: 1)
    registrar.initialize(to: ObservationRegistrar())
    probe = .passRetained(TrackingProbe.keyPath)
  }

  deinit {
    registrar.deinitialize(count: 1)
    registrar.deallocate()
    probe.release()
  }

  /// Reports that a value of the preferences is read.
  @inline(__always)
  func recordRead(of preferences: Preferences) {
    probe._withUnsafeGuaranteedRef { probe in
      registrar.pointee.access(preferences, keyPath: probe)
    }
  }
}
