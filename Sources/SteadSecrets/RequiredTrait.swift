#if !Everything && !Secrets && !Transfer
  #error(
    "SteadSecrets needs the trait Secrets, which brings swift-crypto for its vault. In Package.swift write .package(url: …, traits: [\"Secrets\"]) for this package."
  )
#endif
