import Foundation
import SteadTestSupport
import Testing

@testable import SteadCaches

@Suite(.hangLimit) struct MemoryPressureTests {
  @Test func `drops half at a warning and all when it is critical`() {
    let log = RemovalLog()
    let pressure = MemoryPressure()
    let cache = MemoryCache<Int, Int>(pressure: pressure, onRemoval: log.note)
    let other = MemoryCache<Int, Int>(pressure: nil)
    for number in 0..<100 {
      cache.setValue(number, for: number, cost: 10)
      other.setValue(number, for: number)
    }
    pressure.announce(.warning)
    #expect((cache.count, cache.totalCost) == (50, 500))
    #expect(log.entries.allSatisfy { $0.reason == .pressure })
    pressure.announce(.critical)
    #expect((cache.count, cache.totalCost) == (0, 0))
    #expect(other.count == 100)
    #expect(cache.statistics.evictions == 0)
  }

  @Test func `drops what was used least`() {
    let pressure = MemoryPressure()
    let cache = MemoryCache<Int, Int>(countLimit: 100, pressure: pressure)
    for number in 0..<100 { cache.setValue(number, for: number) }
    for _ in 0..<5 { for number in 0..<30 { _ = cache.value(for: number) } }
    pressure.announce(.warning)
    #expect((0..<30).filter { cache.value(for: $0) != nil }.count == 30)
  }

  @Test func `reports of the system can be ignored`() {
    let pressure = MemoryPressure()
    let cache = MemoryCache<Int, Int>(pressure: pressure)
    cache.setValue(1, for: 1)
    pressure.ignoreSystem()
    pressure.report(.critical)
    #expect(cache.count == 1)
    pressure.announce(.critical)
    #expect(cache.count == 0)
  }

  @Test func `observes the system once, whatever the number of caches`() {
    let observations = Tally()
    let pressure = MemoryPressure { _ in _ = observations.add() }
    #expect(observations.value == 0)
    let caches = (0..<3).map { _ in MemoryCache<Int, Int>(pressure: pressure) }
    #expect(observations.value == 1)
    withExtendedLifetime(caches) {}
  }

  @Test func `a cache that is gone is not kept`() {
    let pressure = MemoryPressure()
    weak var weakCache: MemoryCache<Int, Int>?
    do {
      let cache = MemoryCache<Int, Int>(pressure: pressure)
      weakCache = cache
    }
    #expect(weakCache == nil)
    pressure.announce(.warning)
  }

  #if os(Linux)
    @Test(.needs(.file("/proc/pressure/memory")))
    func `the kernel takes the triggers`() throws {
      let descriptor = try #require(
        MemoryPressure.open("/proc/pressure/memory", "some 200000 2000000"))
      close(descriptor)
      #expect(MemoryPressure.open("/proc/pressure/memory", "nonsense") == nil)
      #expect(MemoryPressure.open("/proc/self/nothing", "some 200000 2000000") == nil)
    }

    /// A cache dropped its values every other second, on a machine whose tasks had waited for a millisecond: the
    /// kernel reported it although it was asked for more.
    @Test(
      arguments: [
        ("some", [0, 1, 200_000, 200_100, 400_100], [nil, nil, nil, .warning]),
        ("full", [50, 1_050, 101_049, 101_050, 301_050], [nil, nil, nil, .critical]),
        ("some", [900, 100, 150, 200_150], [.warning, nil, .warning]),
      ] as [(String, [Int], [MemoryPressure.Level?])])
    func `a report is believed as far as the waits have grown`(
      tasks: String, totals: [Int], levels: [MemoryPressure.Level?]
    ) throws {
      let directory = try TemporaryDirectory()
      let file = directory.file("memory")
      func write(_ total: Int) throws {
        let other = tasks == "some" ? "full" : "some"
        let line = "avg10=0.00 avg60=0.00 avg300=0.00 total="
        try "\(other) \(line)77\n\(tasks) \(line)\(total)\n".write(
          to: file, atomically: false, encoding: .utf8)
      }
      try write(totals[0])
      let descriptor = open(file.path, O_RDONLY)
      defer { close(descriptor) }
      let trigger = try #require(MemoryPressure.triggers.first { $0.tasks == tasks })
      var source = MemoryPressure.PressureSource(descriptor: descriptor, trigger: trigger)
      var seen: [MemoryPressure.Level?] = []
      for total in totals.dropFirst() {
        try write(total)
        seen.append(source.level())
      }
      #expect(seen == levels)
    }

    /// Urgent bytes of a connection come with the same event as the kernel's reports.
    @Test func `calls its subscribers when a report comes and ends with the source`() throws {
      let (sender, receiver) = try Self.connection()
      let pressure = MemoryPressure()
      let (reported, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let levels = Numbers()
      let subscription = pressure.subscribe { level in
        levels.add(level.rawValue)
        reported.signal()
      }
      Thread.detachNewThread {
        let trigger = MemoryPressure.triggers[1]
        pressure.wait(at: [.init(descriptor: receiver, trigger: trigger)])
        ended.signal()
      }
      #expect(send(sender, "!", 1, Int32(MSG_OOB)) == 1)
      reported.wait()
      // Reset instead of closed, so that the other end is an error, as a control group that was removed.
      var linger = linger(l_onoff: 1, l_linger: 0)
      let size = socklen_t(MemoryLayout.size(ofValue: linger))
      #expect(setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, size) == 0)
      close(sender)
      ended.wait()
      #expect(levels.all.first == MemoryPressure.Level.critical.rawValue)
      withExtendedLifetime(subscription) {}
    }

    /// Both ends of a connection of this machine with itself.
    private static func connection() throws -> (Int32, Int32) {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let sender = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      let isConnected = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listener, address, length) == 0 && listen(listener, 1) == 0
            && getsockname(listener, address, &length) == 0
            && connect(sender, address, length) == 0
        }
      }
      try #require(isConnected)
      let receiver = accept(listener, nil, nil)
      try #require(receiver >= 0)
      return (sender, receiver)
    }

    @Test(arguments: [
      (
        "0::/user.slice/app\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "/sys/fs/cgroup/user.slice/app"
      ),
      (
        "0::/\n", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup rw\n",
        "/sys/fs/cgroup"
      ),
      (
        "4:memory:/a\n0::/b\n", "29 1 0:1 / /x rw - cgroup c rw\n30 1 0:2 / /y rw - cgroup2 c rw\n",
        "/y/b"
      ),
      (
        "0::/docker/12/app\n", "30 23 0:26 /docker/12 /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
        "/sys/fs/cgroup/app"
      ),
      ("0::/docker/123\n", "30 23 0:26 /docker/12 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", nil),
      ("4:memory:/a\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", nil),
      ("0::/a\n", "30 23 0:26 / /sys rw - sysfs sysfs rw\n", nil), ("", "", nil),
    ])
    func `finds the control group`(cgroups: String, mounts: String, expected: String?) {
      #expect(MemoryPressure.groupDirectory(cgroups: cgroups, mounts: mounts) == expected)
    }
  #endif
}
