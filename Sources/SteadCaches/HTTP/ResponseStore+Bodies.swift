import Foundation

extension ResponseStore {
  private static func onDisk(_ id: String) -> String { "body " + id }

  /// The bytes of a response's body at some positions; nil if the body is gone, even if there are no positions.
  func body(of stored: StoredResponse, at positions: Range<Int>, for key: CacheKey) -> HTTPCache
    .Body?
  {
    if let data = memory.value(for: key)?.bodies[stored.id]?.data, data.count == stored.bodySize {
      return HTTPCache.Body(data.slice(positions))
    }
    guard let entry = usableDisk?.entry(for: Self.onDisk(stored.id)), entry.size == stored.bodySize
    else {
      return nil
    }
    guard !positions.isEmpty else { return HTTPCache.Body() }
    guard entry.size < DiskCache.fileThreshold else {
      return HTTPCache.Body(entry.chunks(in: positions))
    }
    guard let data = entry.data else { return nil }
    if data.count <= memoryBodySize {
      keep(.init(data: data, storedAt: entry.storedAt), of: stored, for: key)
    }
    return HTTPCache.Body(data.slice(positions))
  }

  private func keep(_ body: StoredPage.KeptBody, of stored: StoredResponse, for key: CacheKey) {
    changing.withLock { _ in
      guard var page = memory.value(for: key) else { return }
      page.keep(body, of: stored.id)
      page.dropBodies(downTo: pageSize, except: stored.id)
      memory.setValue(page, for: key, cost: page.cost)
    }
  }

  /// Stores a response with its body, and returns whether it is stored.
  func store(
    _ response: StoredResponse, _ body: Data, for request: HTTPCache.Request, under key: CacheKey
  ) -> Bool {
    guard canHold(response, length: body.count, for: request, under: key) else { return false }
    let isInMemory = body.count <= memoryBodySize
    let isOnDisk =
      diskForWriting()?.setBody(body, for: Self.onDisk(response.id), of: key) ?? false
    guard isInMemory || isOnDisk else { return false }
    let page = add(response, isInMemory ? body : nil, for: request, under: key)
    // The page may have had no room for the body. What it holds by now tells nothing: a response that has just come, too,
    // may have taken this one's place.
    let isStored = page.map { isOnDisk || $0.bodies[response.id] != nil } ?? false
    if !isStored { removeBodies(of: [response]) }
    return isStored
  }

  /// Starts a body that is stored piece by piece; nil if there is no disk, or the response may not be stored.
  func writer(for response: StoredResponse, under key: CacheKey) -> DiskCache.Writer? {
    canStore(response)
      ? diskForWriting()?.writer(
        for: Self.onDisk(response.id), metadata: key.bytes, tags: [key.tag]) : nil
  }

  /// Stores a response whose body has been written, and returns whether it is stored.
  func store(
    _ response: StoredResponse, _ writer: DiskCache.Writer, for request: HTTPCache.Request,
    under key: CacheKey
  ) -> Bool {
    guard writer.commit() else { return false }
    let isStored = add(response, nil, for: request, under: key) != nil
    if !isStored { removeBodies(of: [response]) }
    return isStored
  }

  /// Whether a response will be stored once its body has come, as far as its head and the limits say.
  ///
  /// - Parameter length: The body's; nil if it isn't known, which is then assumed to be short.
  func canHold(
    _ response: StoredResponse, length: Int?, for request: HTTPCache.Request, under key: CacheKey
  ) -> Bool {
    var response = response
    response.bodySize = length ?? 0
    guard canStore(response), response.bodySize <= limits.bodySizeLimit else { return false }
    let disk = usableDisk.flatMap { $0.database.canBeOpened ? $0 : nil }
    let list = StoredList.adding(response, for: request, to: look(key).page.responses, now: now())
    let bytes = disk.map { _ in StoredPage.encode(list) }
    if let disk, let bytes, hasRoom(on: disk, for: response, pageBytes: bytes, key) { return true }
    // Of the bodies of a page, the newest is the last that goes.
    return response.bodySize <= memoryBodySize
      && StoredPage(list, onDisk: bytes).cost + response.bodySize <= pageSize
  }

  /// Whether a disk has room for a body and the page that leads to it at the same time.
  private func hasRoom(
    on disk: DiskCache, for response: StoredResponse, pageBytes: Data, _ key: CacheKey
  ) -> Bool {
    let page = DiskCache.NewEntry(onDisk(key), metadata: pageBytes, tags: [key.tag])
    let body = DiskCache.NewEntry(Self.onDisk(response.id), metadata: key.bytes, tags: [key.tag])
    return disk.fits(page, length: 0)
      && disk.fits(body, length: page.size + response.bodySize)
  }

  private func canStore(_ response: StoredResponse) -> Bool {
    response.headSize <= HTTPCache.Limits.headSizeLimit && !rights.isRevoked(response.id)
  }

  /// Adds a response to its page, and returns the page as it was stored then; nil if the response wasn't.
  private func add(
    _ response: StoredResponse, _ body: Data?, for request: HTTPCache.Request, under key: CacheKey
  ) -> StoredPage? {
    let moment = now()
    // It isn't if a more recent one is stored.
    var isAdded = false
    let page = change(key, body: body.map { (response.id, .init(data: $0, storedAt: moment)) }) {
      list in
      guard !rights.isRevoked(response.id) else { return list }
      let list = StoredList.adding(response, for: request, to: list, now: moment)
      isAdded = list.contains { $0.id == response.id }
      return list
    }
    return isAdded && !rights.isRevoked(response.id) ? page : nil
  }

  /// Removes responses from pages whose bodies were stored at a date or later.
  ///
  /// Other objects have such bodies in memory, and look only at whether the page has changed.
  func removeFromPages(storedSince date: Date) {
    guard let disk = usableDisk else { return }
    let moment = WallClock.milliseconds(date)
    for bytes in disk.metadata(ofKeysWithPrefix: Self.onDisk(""), storedSince: date) {
      guard let url = URL(string: String(decoding: bytes, as: UTF8.self)), let key = CacheKey(url)
      else { continue }
      change(key) { responses in
        responses.filter { response in
          guard let body = disk.entry(for: Self.onDisk(response.id)) else { return true }
          return WallClock.milliseconds(body.storedAt) < moment
        }
      }
    }
  }

  /// Removes bodies from the disk that no response has any more.
  func removeBodies(of responses: [StoredResponse]) {
    for response in responses {
      usableDisk?.removeValue(for: Self.onDisk(response.id))
    }
  }
}

extension CacheKey {
  /// What the entry of a body on disk holds as its metadata, so that its page is found.
  var bytes: Data { Data(string.utf8) }
}

extension DiskCache {
  fileprivate func setBody(_ body: Data, for name: String, of key: CacheKey) -> Bool {
    defer { database.report() }
    return setData(body, for: NewEntry(name, metadata: key.bytes, tags: [key.tag])) != nil
  }
}

extension Data {
  /// The bytes at some positions, counted from 0; all of them without a copy.
  func slice(_ positions: Range<Int>) -> Data {
    positions == 0..<count ? self : Data(dropFirst(positions.lowerBound).prefix(positions.count))
  }
}
