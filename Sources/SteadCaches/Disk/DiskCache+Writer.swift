public import Foundation
import SteadFiles
import Synchronization

extension DiskCache {
  /// A value that is stored piece by piece, and is invisible until it is complete.
  ///
  /// ```swift
  /// let writer = cache.writer(for: "video")
  /// for try await part in download { writer.append(part) }
  /// writer.commit()
  /// ```
  ///
  /// Small values are kept in memory, larger ones in a file of the cache's directory, which is
  /// removed with the writer if it isn't committed. One thread at a time should append, since the
  /// order of calls is the order of bytes.
  public final class Writer: Sendable {
    private enum State {
      /// In memory, as long as the value is below ``DiskCache/fileThreshold``.
      case small(Data)
      /// In a file that no entry has yet.
      case large(ValueFileDraft)
      /// The value can't be stored; its bytes were dropped.
      case failed
      /// Committed or cancelled.
      case finished
    }

    private let cache: DiskCache
    private let new: NewEntry
    /// Held during the file's writes too, so that calls from several threads leave whole pieces.
    private let state = Mutex(State.small(Data()))

    init(_ cache: DiskCache, _ new: NewEntry) {
      self.cache = cache
      self.new = new
    }

    deinit { cancel() }

    /// Adds bytes at the end.
    ///
    /// - Returns: Whether the value can still be stored; false if it has become larger than
    ///   ``Limits/entrySizeLimit``, the disk is full, or the writer has ended.
    @discardableResult
    public func append(_ data: Data) -> Bool {
      defer { cache.database.report() }
      return state.withLock { state in
        // Consumed, so that the buffer has one reference and `append` doesn't copy all bytes with
        // each piece.
        switch consume state {
        case .small(var bytes):
          bytes.append(data)
          state = bytes.count < DiskCache.fileThreshold ? .small(bytes) : spill(bytes)
        case .large(let draft): state = append(data, to: draft)
        case .failed: state = .failed
        case .finished: state = .finished
        }
        switch state {
        case .small(let bytes): return cache.fits(new, length: bytes.count)
        case .large: return true
        case .failed, .finished: return false
        }
      }
    }

    /// Stores the appended bytes as the value of the key.
    ///
    /// The entry's times are counted from here. A load of the key that is running stores nothing.
    /// Costs one transaction, and evicts as many entries as the limits require. Only the first call
    /// stores.
    ///
    /// - Returns: Whether it is stored; false leaves the cache as it was.
    @discardableResult
    public func commit() -> Bool {
      defer { cache.database.report() }
      return state.withLock { state in
        // Whatever happens below: `deinit` must not cancel a draft whose file is an entry's by now.
        defer { state = .finished }
        switch state {
        case .small(let bytes): return cache.setData(bytes, for: new) != nil
        case .large(var draft):
          guard cache.commit(&draft, as: new) != nil else {
            draft.cancel()
            return false
          }
          draft.close()
          return true
        case .failed, .finished: return false
        }
      }
    }

    /// Ends the writing and stores nothing. Without effect after ``commit()``.
    public func cancel() {
      state.withLock { state in
        if case .large(let draft) = state { draft.cancel() }
        state = .finished
      }
    }

    private func spill(_ bytes: Data) -> State {
      // The limit is checked first: a value that is known to be too large needs no file.
      do {
        guard cache.fits(new, length: bytes.count), let draft = try cache.database.makeDraft()
        else { return .failed }
        return append(bytes, to: draft)
      } catch {
        cache.database.handle(error)
        return .failed
      }
    }

    private func append(_ data: Data, to draft: ValueFileDraft) -> State {
      // Cancelled at the first failure, and not only when the writer ends: until then the file would
      // take space on a full disk.
      var draft = draft
      do {
        guard cache.fits(new, length: draft.length + data.count) else {
          draft.cancel()
          return .failed
        }
        try draft.append(data)
        return .large(draft)
      } catch {
        draft.cancel()
        cache.database.handle(error)
        return .failed
      }
    }
  }

  /// Starts a value that is stored piece by piece.
  ///
  /// Nothing is written before a value reaches ``fileThreshold``. Drop the writer, or call
  /// ``Writer/cancel()``, to store nothing.
  ///
  /// - Parameters:
  ///   - metadata: Small data to store with the value.
  ///   - timeToLive: How long the value is valid from its commit; nil means as long as the cache's
  ///     limits say.
  ///   - tags: Names that many entries may share, to remove them together.
  public func writer(
    for key: String, metadata: Data = Data(), timeToLive: Duration? = nil, tags: Set<String> = []
  ) -> Writer {
    Writer(self, NewEntry(key, metadata: metadata, timeToLive: timeToLive, tags: tags))
  }
}
