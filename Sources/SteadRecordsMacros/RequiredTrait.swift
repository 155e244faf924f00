#if !Everything && !Records && !Transfer
  #error(
    "SteadRecords and SteadSwiftData need the trait Records, which brings swift-syntax for their macros. In Package.swift write .package(url: …, traits: [\"Records\"]) for this package."
  )
#endif
