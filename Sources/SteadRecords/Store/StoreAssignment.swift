import Foundation

/// Which configuration holds which entities.
struct StoreAssignment {
  /// For each configuration the indices of its entities.
  let entities: [Set<Int>]

  init(layout: StoreLayout, configurations: [ModelConfiguration]) throws {
    var names: Set<String> = []
    var files: Set<URL> = []
    for configuration in configurations {
      try configuration.validate()
      let isNew =
        names.insert(configuration.name).inserted
        && (configuration.isStoredInMemoryOnly || files.insert(configuration.url).inserted)
      guard isNew || configurations.count == 1 else {
        throw SwiftDataError(
          .duplicateConfiguration,
          "Two configurations are named \(configuration.name) or share a file. Give each a different "
            + "name.")
      }
    }
    var taken: Set<Int> = []
    var result: [Set<Int>] = []
    for configuration in configurations {
      guard let schema = configuration.schema else {
        result.append([])
        continue
      }
      let indices = try schema.entities.map { entity in
        guard let found = layout.entity(named: entity.name) else {
          throw SwiftDataError(
            .configurationSchemaNotFoundInContainerSchema,
            "\(entity.name) of configuration \(configuration.name) is not in the container's "
              + "schema.")
        }
        return found.index
      }
      result.append(Set(indices).subtracting(taken))
      taken.formUnion(indices)
    }
    // A configuration without a schema holds the models that the others don't.
    for (index, configuration) in configurations.enumerated() where configuration.schema == nil {
      result[index] = Set(layout.entities.indices).subtracting(taken)
      taken.formUnion(layout.entities.indices)
    }
    entities = result
  }
}
