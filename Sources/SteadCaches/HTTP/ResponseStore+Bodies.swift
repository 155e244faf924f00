import Foundation

extension ResponseStore {
  private static func bodyKey(_ id: String) -> String { "body " + id }

  /// Returns a part of a response's body, from memory or disk; nil if the body was evicted, also
  /// for an empty part.
  ///
  /// A short body from disk is kept in memory; a body in a file of its own is read in chunks.
  func body(of stored: StoredResponse, at positions: Range<Int>, for key: CacheKey) -> HTTPCache
    .Body?
  {
    // The sizes are compared, so that a body can't be cut at positions that it doesn't have.
    if let data = memory.value(for: key)?.bodies[stored.id]?.data, data.count == stored.bodySize {
      return HTTPCache.Body(data.slice(positions))
    }
    guard let entry = usableDisk?.entry(for: Self.bodyKey(stored.id)), entry.size == stored.bodySize
    else {
      return nil
    }
    // For a 304 or a HEAD the body must exist, but isn't read.
    guard !positions.isEmpty else { return HTTPCache.Body() }
    guard entry.size < DiskCache.fileThreshold else {
      return HTTPCache.Body(entry.chunks(in: positions))
    }
    guard let data = entry.data else { return nil }
    if data.count <= memoryBodySizeLimit {
      keep(.init(data: data, storedAt: entry.storedAt), of: stored, for: key)
    }
    return HTTPCache.Body(data.slice(positions))
  }

  private func keep(_ body: CachedVariants.MemoryBody, of stored: StoredResponse, for key: CacheKey)
  {
    memoryLock.withLock { _ in
      guard var variants = memory.value(for: key) else { return }
      variants.keep(body, of: stored.id)
      variants.dropBodies(downTo: variantsSizeLimit, except: stored.id)
      memory.setValue(variants, for: key, cost: variants.cost)
    }
  }

  /// Stores a response with its body, and returns whether it is stored.
  func store(
    _ response: StoredResponse, _ body: Data, for request: HTTPCache.Request, under key: CacheKey
  ) -> Bool {
    guard let seen = canHold(response, length: body.count, for: request, under: key) else {
      return false
    }
    let isInMemory = body.count <= memoryBodySizeLimit
    // On disk also if it is in memory: memory is the cache of one process, until it ends.
    let isOnDisk =
      diskForWriting()?.setBody(body, for: Self.bodyKey(response.id), of: key) ?? false
    // The body before the head: see `store(_:_:for:under:)` for a writer.
    guard isInMemory || isOnDisk else { return false }
    let variants = add(response, isInMemory ? body : nil, for: request, under: key, seen: seen)
    // Judged by what the update returned, not by what memory has now: an equal request's response
    // may have replaced this one already.
    let isStored = variants.map { isOnDisk || $0.bodies[response.id] != nil } ?? false
    if !isStored { removeBodies(of: [response]) }
    return isStored
  }

  /// Starts a body that is written to the disk in pieces; nil if there is no disk, or the response
  /// must not be stored.
  func writer(for response: StoredResponse, under key: CacheKey) -> DiskCache.Writer? {
    canStore(response)
      ? diskForWriting()?.writer(
        for: Self.bodyKey(response.id), metadata: key.bytes, tags: [key.tag]) : nil
  }

  /// Stores a response whose body was written to the disk, and returns whether it is stored.
  ///
  /// The body is committed before the head that names it: a head without a body is a miss, and a
  /// body without a head is merely evicted.
  func store(
    _ response: StoredResponse, _ writer: DiskCache.Writer, for request: HTTPCache.Request,
    under key: CacheKey
  ) -> Bool {
    guard writer.commit() else { return false }
    let isStored = add(response, nil, for: request, under: key, seen: nil) != nil
    if !isStored { removeBodies(of: [response]) }
    return isStored
  }

  /// Whether a response will be stored once its body was received, as far as its head and the
  /// limits say: what the look-up for that has found, or nil if the response won't be stored.
  ///
  /// - Parameter length: The body's length; an unknown one is assumed to be short.
  func canHold(
    _ response: StoredResponse, length: Int?, for request: HTTPCache.Request, under key: CacheKey
  ) -> Lookup? {
    var response = response
    response.bodySize = length ?? 0
    guard canStore(response), response.bodySize <= limits.bodySizeLimit else { return nil }
    let disk = usableDisk.flatMap { $0.database.canBeOpened ? $0 : nil }
    let found = lookup(key)
    let list = VariantList.adding(
      response, for: request, to: found.variants.responses, now: now())
    let bytes = disk.map { _ in CachedVariants.encode(list) }
    if let disk, let bytes, hasRoom(on: disk, for: response, variantsBytes: bytes, key) {
      return found
    }
    // In memory the newest body of a URL is evicted last, so the others don't count.
    let room = variantsSizeLimit - CachedVariants(list, diskBytes: bytes).cost
    return response.bodySize <= min(memoryBodySizeLimit, room) ? found : nil
  }

  /// Whether the disk's limits have room for a body and the head that names it at the same time.
  private func hasRoom(
    on disk: DiskCache, for response: StoredResponse, variantsBytes: Data, _ key: CacheKey
  ) -> Bool {
    let variants = DiskCache.NewEntry(diskKey(key), metadata: variantsBytes, tags: [key.tag])
    let body = DiskCache.NewEntry(Self.bodyKey(response.id), metadata: key.bytes, tags: [key.tag])
    // A server may state any length.
    let (length, isTooLarge) = variants.size.addingReportingOverflow(response.bodySize)
    return !isTooLarge && disk.fits(variants, length: 0) && disk.fits(body, length: length)
  }

  private func canStore(_ response: StoredResponse) -> Bool {
    response.headSize <= HTTPCache.Limits.headSizeLimit && !epochs.isInvalidated(response.id)
  }

  /// Adds a response to its URL's variants, and returns them as they were stored then; nil if it
  /// wasn't added.
  ///
  /// - Parameter seen: What ``canHold(_:length:for:under:)`` has found.
  private func add(
    _ response: StoredResponse, _ body: Data?, for request: HTTPCache.Request, under key: CacheKey,
    seen: Lookup?
  ) -> CachedVariants? {
    let moment = now()
    // False if a more recent response is stored.
    var isAdded = false
    let kept = body.map {
      (id: response.id, kept: CachedVariants.MemoryBody(data: $0, storedAt: moment))
    }
    let variants = update(key, body: kept, seen: seen) { list in
      // Checked within the update, and once more after it: a removal may come at any time.
      guard !epochs.isInvalidated(response.id) else { return list }
      let list = VariantList.adding(response, for: request, to: list, now: moment)
      isAdded = list.contains { $0.id == response.id }
      return list
    }
    return isAdded && !epochs.isInvalidated(response.id) ? variants : nil
  }

  /// Removes the responses whose bodies were stored at a date or later from the variants on disk.
  ///
  /// Removing the bodies alone would not do: other processes may have them in memory, and only
  /// notice changed variants.
  func removeVariants(storedSince date: Date) {
    guard let disk = usableDisk else { return }
    let moment = WallClock.milliseconds(date)
    for bytes in disk.metadata(ofKeysWithPrefix: Self.bodyKey(""), storedSince: date) {
      guard let url = URL(string: String(decoding: bytes, as: UTF8.self)), let key = CacheKey(url)
      else { continue }
      update(key) { responses in
        responses.filter { response in
          guard let body = disk.entry(for: Self.bodyKey(response.id)) else { return true }
          return WallClock.milliseconds(body.storedAt) < moment
        }
      }
    }
  }

  /// Removes the bodies of dropped responses from the disk.
  func removeBodies(of responses: [StoredResponse]) {
    for response in responses {
      usableDisk?.removeValue(for: Self.bodyKey(response.id))
    }
  }
}

extension CacheKey {
  /// The metadata of a body's entry on disk, from which its URL's variants are found.
  var bytes: Data { Data(string.utf8) }
}

extension DiskCache {
  fileprivate func setBody(_ body: Data, for name: String, of key: CacheKey) -> Bool {
    defer { database.report() }
    return setData(body, for: NewEntry(name, metadata: key.bytes, tags: [key.tag])) != nil
  }
}

extension Data {
  /// The bytes in a range, counted from 0; all of them without a copy.
  func slice(_ positions: Range<Int>) -> Data {
    positions == 0..<count ? self : Data(dropFirst(positions.lowerBound).prefix(positions.count))
  }
}
