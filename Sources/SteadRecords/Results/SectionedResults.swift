/// The sections of a result, in the order of their first objects.
///
/// ```swift
/// for section in observer.sections {
///   print(section.title, section.count)
/// }
/// ```
///
/// A value, as of one refresh of its ``ResultsObserver``. An object's later changes move it only with the next refresh.
public struct SectionedResults<Element: PersistentModel, SectionTitle: Hashable>:
  RandomAccessCollection
{
  private let sections: [ResultsSection<Element, SectionTitle>]
  /// The index of each section by its title.
  private let indexByTitle: [SectionTitle: Int]

  /// Groups objects by a property, in one pass; no sections without a property.
  init(_ models: [Element], by keyPath: KeyPath<Element, SectionTitle>?) {
    var titles: [SectionTitle] = []
    var groups: [SectionTitle: [Element]] = [:]
    if let keyPath {
      for model in models {
        let title = model[keyPath: keyPath]
        // A dictionary has no order, so the titles keep that of the first objects.
        if groups[title] == nil { titles.append(title) }
        groups[title, default: []].append(model)
      }
    }
    sections = titles.map { ResultsSection(title: $0, models: groups[$0] ?? []) }
    indexByTitle = Dictionary(uniqueKeysWithValues: titles.enumerated().map { ($1, $0) })
  }

  /// The titles of the sections, in order.
  public var sectionTitles: [SectionTitle] { sections.map(\.title) }
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { sections.count }
  /// The section at an index.
  public subscript(position: Int) -> ResultsSection<Element, SectionTitle> { sections[position] }

  /// The section with a title; nil if there is none. Costs one look-up.
  public subscript(sectionTitle title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    indexByTitle[title].map { sections[$0] }
  }

  /// The position of the section with a title; nil if there is none. Costs one look-up.
  public func index(ofSectionTitled title: SectionTitle) -> Int? { indexByTitle[title] }
}

// MARK: - Names of the first versions of iOS 27

/// The name that ``SectionedResults`` had in the first versions of iOS 27.
public typealias ResultsSectionCollection = SectionedResults

extension SectionedResults {
  /// ``sectionTitles``, under its first name.
  public var sectionNames: [SectionTitle] { sectionTitles }

  /// The section with a title, under the subscript's first name.
  public subscript(sectionName title: SectionTitle) -> ResultsSection<Element, SectionTitle>? {
    self[sectionTitle: title]
  }

  /// ``index(ofSectionTitled:)``, under its first name.
  public func index(ofSectionNamed title: SectionTitle) -> Int? { index(ofSectionTitled: title) }

  /// Whether a section with a title exists.
  public func contains(sectionName title: SectionTitle) -> Bool { indexByTitle[title] != nil }
}

// MARK: - One section

/// The objects of one section of a result.
public struct ResultsSection<Element: PersistentModel, SectionTitle: Hashable>:
  RandomAccessCollection, Identifiable
{
  /// The value that the section's objects share.
  public let title: SectionTitle
  private let models: [Element]

  init(title: SectionTitle, models: [Element]) {
    self.title = title
    self.models = models
  }

  /// The title, which no other section of the result has.
  public var id: SectionTitle { title }
  /// ``title``, under the name of the first versions of iOS 27.
  public var name: SectionTitle { title }
  public var startIndex: Int { 0 }
  /// The number of objects in the section.
  public var endIndex: Int { models.count }
  /// The object at an index in the section.
  public subscript(position: Int) -> Element { models[position] }
}
