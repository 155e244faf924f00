// Caches that keep their limits: in memory, on disk, and of HTTP responses.
//
// Begin with `MemoryCache`, `DiskCache` or `HTTPCache`; Documentation/Caches.md explains which of
// them fits.
