#if os(Linux) || os(Android)
  import Foundation
  import SteadFiles

  /// Pressure stall information: a thread waits for the kernel to report that tasks waited for
  /// memory too long.
  ///
  /// Requested for the process's control group, whose limit may be below the machine's memory, and
  /// for the whole system. Before Linux 6.5 only processes with `CAP_SYS_RESOURCE` may request it,
  /// kernels without `CONFIG_PSI` do not report it, and containers often have the files mounted
  /// read-only; then nothing is observed.
  ///
  /// Source: Linux, Documentation/accounting/psi.rst.
  extension MemoryPressure {
    /// What the kernel should report, in microseconds: waits of some tasks, or of all at once, that
    /// sum up to a time within a window. Without a privilege a window must be a multiple of two
    /// seconds.
    struct Trigger {
      let level: Level
      let tasks: String
      let stall: UInt64
      let window: UInt64

      var text: String { "\(tasks) \(stall) \(window)" }

      /// The total stall time in a pressure file, in microseconds; nil if the file lacks it.
      func total(in report: String) -> UInt64? {
        let line = report.split(separator: "\n").first { $0.hasPrefix(tasks + " ") }
        let field = line?.split(separator: " ").first { $0.hasPrefix("total=") }
        return field.flatMap { UInt64($0.dropFirst("total=".count)) }
      }
    }

    static let triggers = [
      Trigger(level: .warning, tasks: "some", stall: 200_000, window: 2_000_000),
      Trigger(level: .critical, tasks: "full", stall: 100_000, window: 2_000_000),
    ]

    /// Starts observing the system; does nothing if the system does not report.
    func observe() {
      let sources = Self.pressureFiles().flatMap { file in
        Self.triggers.compactMap { trigger in
          Self.open(file, trigger.text).map { PressureSource(descriptor: $0, trigger: trigger) }
        }
      }
      guard !sources.isEmpty else { return }
      do {
        // A thread that sleeps in `poll`: a task would occupy one of the concurrency pool's for
        // ever.
        try DetachedThread.start { self.wait(at: sources) }
      } catch {
        for source in sources { close(source.descriptor) }
      }
    }

    /// A descriptor at which the kernel reports.
    struct PressureSource {
      private static let reportLimit = 1024

      let descriptor: Int32
      let trigger: Trigger
      /// The waits when the source was made or last reported; nil where they cannot be read.
      private var total: UInt64?

      init(descriptor: Int32, trigger: Trigger) {
        (self.descriptor, self.trigger) = (descriptor, trigger)
        total = readTotal()
      }

      /// The level that the kernel has just reported; nil when the stalls since the last report are
      /// too short for it.
      ///
      /// Compared with the total, since some kernels (seen with 6.18) also report a stall of a
      /// millisecond.
      mutating func level() -> Level? {
        let last = total
        total = readTotal()
        guard let last, let total, total >= last else { return trigger.level }
        return total - last >= trigger.stall ? trigger.level : nil
      }

      private func readTotal() -> UInt64? {
        var bytes = [UInt8](repeating: 0, count: Self.reportLimit)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return trigger.total(in: String(decoding: bytes[..<count], as: UTF8.self))
      }
    }

    /// A descriptor at which the kernel reports; nil if it refuses.
    static func open(_ file: String, _ trigger: String) -> Int32? {
      let descriptor = Foundation.open(file, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      // No error to report: where the system has no such file or lets nobody write to it, caches
      // work without it.
      guard descriptor >= 0 else { return nil }
      // With the zero at the end.
      let bytes = Array(trigger.utf8CString)
      if write(descriptor, bytes, bytes.count) == bytes.count { return descriptor }
      close(descriptor)
      return nil
    }

    /// Returns when no source is left, as after the control group was removed.
    func wait(at sources: [PressureSource]) {
      var sources = sources
      while !sources.isEmpty {
        var polled = sources.map { pollfd(fd: $0.descriptor, events: Int16(POLLPRI), revents: 0) }
        if poll(&polled, nfds_t(polled.count), -1) < 0 {
          // A signal; any other error would come again at once, in a busy loop.
          if errno == EINTR { continue }
          break
        }
        let fired = sources.indices.filter { polled[$0].revents & Int16(POLLPRI) != 0 }
        let levels = fired.compactMap { sources[$0].level() }
        if let worst = levels.max(by: { $0.rawValue < $1.rawValue }) { report(worst) }
        let gone = zip(sources, polled).filter {
          $1.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
        }
        // A source that is gone stays ready, and would keep the loop busy.
        for (source, _) in gone { close(source.descriptor) }
        sources.removeAll { source in gone.contains { $0.0.descriptor == source.descriptor } }
      }
      for source in sources { close(source.descriptor) }
    }
  }

  // MARK: - Files

  extension MemoryPressure {
    private static func pressureFiles() -> [String] {
      let cgroups = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)
      let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8)
      let group = groupDirectory(cgroups: cgroups ?? "", mounts: mounts ?? "")
      return (group.map { ["\($0)/memory.pressure"] } ?? []) + ["/proc/pressure/memory"]
    }

    /// The directory of the process's control group, of version 2; nil if none is mounted.
    ///
    /// - Parameters:
    ///   - cgroups: The lines of `/proc/self/cgroup`; that of version 2 is `0::PATH`.
    ///   - mounts: The lines of `/proc/self/mountinfo`.
    static func groupDirectory(cgroups: String, mounts: String) -> String? {
      let prefix = "0::"
      guard
        let line = cgroups.split(separator: "\n").first(where: { $0.hasPrefix(prefix) })
      else { return nil }
      let path = String(line.dropFirst(prefix.count))
      for mount in mounts.split(separator: "\n") {
        // 36 35 98:0 ROOT POINT options… - TYPE source options
        let fields = mount.split(separator: " ").map(String.init)
        guard let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count, dash >= 5,
          fields[dash + 1] == "cgroup2"
        else { continue }
        // A mount may only show a part of the hierarchy, as in a container without its own
        // namespace.
        let (root, point) = (fields[3], fields[4])
        guard root == "/" || path == root || path.hasPrefix(root + "/") else { continue }
        let rest = root == "/" ? path : String(path.dropFirst(root.count))
        // The first mount that shows the group. Its mount point stands for `root`.
        return rest == "/" || rest.isEmpty ? point : point + rest
      }
      return nil
    }
  }
#endif
