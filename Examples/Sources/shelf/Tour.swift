import ExampleSupport
import Foundation
import ShelfKit
import SwiftData

/// The main job, step by step: import, query, search, change, delete, reopen.
struct Tour {
  let report = Report()
  let url: URL

  private func open() throws -> ModelContainer {
    try ModelContainer(
      for: Package.self, Maintainer.self, Section.self, Dependency.self,
      configurations: ModelConfiguration(url: url))
  }

  func run(_ records: [PackageRecord]) throws {
    report.title("Import")
    do {
      let context = ModelContext(try open())
      try report.step("insert and save") {
        try Shelf(context).add(records)
        return ((), try counts(context))
      }
      try query(context)
      try search(context)
      try change(context)
    }
    report.title("Reopen")
    let context = ModelContext(try open())
    try report.step("all objects") { ((), try counts(context)) }
  }

  private func counts(_ context: ModelContext) throws -> String {
    let packages = try context.fetchCount(FetchDescriptor<Package>())
    let dependencies = try context.fetchCount(FetchDescriptor<Dependency>())
    let maintainers = try context.fetchCount(FetchDescriptor<Maintainer>())
    let sections = try context.fetchCount(FetchDescriptor<Section>())
    return "\(packages) packages, \(dependencies) dependencies, \(maintainers) maintainers, "
      + "\(sections) sections"
  }

  // MARK: Queries

  private func query(_ context: ModelContext) throws {
    report.title("Queries")
    let section = try mostUsedSection(context)
    var descriptor = FetchDescriptor<Package>(
      predicate: #Predicate { $0.section?.name == section && $0.installedSize > 100 },
      sortBy: [SortDescriptor(\.installedSize, order: .reverse), SortDescriptor(\.name)])
    descriptor.fetchLimit = 5
    let largest = try report.step("largest of section \(section)") {
      let found = try context.fetch(descriptor)
      return (found, "\(found.count) packages")
    }
    for package in largest {
      report.row(package.installedSize, "\(package.name): \(package.summary)")
    }
    print("\n  which is this SQL:\n  \(try context.sql(for: descriptor))\n")

    let needed = try mostNeeded(context)
    let users = FetchDescriptor<Package>(
      predicate: #Predicate { package in
        package.dependencies.contains { need in need.alternatives.contains { $0.name == needed } }
      })
    try report.step("packages that need \(needed)") {
      let count = try context.fetchCount(users)
      return ((), "\(count)")
    }
    try report.step("required or important, not of section \(section)") {
      let required = Priority.required
      let count = try context.fetchCount(
        FetchDescriptor<Package>(
          predicate: #Predicate {
            ($0.priority == required || $0.priority == .important) && $0.section?.name != section
          }))
      return ((), "\(count) packages")
    }
  }

  private func mostUsedSection(_ context: ModelContext) throws -> String {
    try report.step("sections with their packages") {
      let sections = try context.fetch(FetchDescriptor<Section>())
      let largest = sections.max { $0.packages.count < $1.packages.count }
      return (largest?.name ?? "", "\(sections.count), two statements in all")
    }
  }

  private func mostNeeded(_ context: ModelContext) throws -> String {
    let packages = try context.fetch(FetchDescriptor<Package>())
    return packages.max { $0.satisfies.count < $1.satisfies.count }?.name ?? ""
  }

  private func search(_ context: ModelContext) throws {
    report.title("Full text")
    for text in ["compress*", "shared library", "test"] {
      let found = try report.step("\"\(text)\"") {
        let found = try context.search(Package.self, for: text, limit: 3)
        return (found, "best \(found.count)")
      }
      for result in found {
        let snippet = result.snippet.replacing("\n", with: " ")
        report.row("", "\(result.model.name): \(snippet)")
      }
    }
  }

  // MARK: Changes

  private func change(_ context: ModelContext) throws {
    report.title("Changes")
    try report.step("rename every maintainer") {
      let maintainers = try context.fetch(FetchDescriptor<Maintainer>())
      for maintainer in maintainers { maintainer.name = maintainer.name.uppercased() }
      try context.save()
      return ((), "\(maintainers.count) rows updated")
    }
    try report.step("delete a package (cascade to its dependencies)") {
      let packages = try context.fetch(FetchDescriptor<Package>())
      guard let package = packages.max(by: { $0.dependencies.count < $1.dependencies.count }) else {
        return ((), "none there")
      }
      let (name, count) = (package.name, package.dependencies.count)
      context.delete(package)
      try context.save()
      return ((), "\(name), and with it \(count) dependencies")
    }
    try report.step("delete a maintainer (nullify)") {
      let maintainers = try context.fetch(FetchDescriptor<Maintainer>())
      guard let busiest = maintainers.max(by: { $0.packages.count < $1.packages.count }) else {
        return ((), "none there")
      }
      let (name, packages) = (busiest.name, busiest.packages)
      context.delete(busiest)
      try context.save()
      let orphans = packages.count { $0.maintainer == nil }
      return ((), "\(name); \(orphans) packages have none now")
    }
    try report.step("left") { ((), try counts(context)) }
  }
}
