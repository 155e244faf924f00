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

  public var id: SectionTitle { title }
  /// ``title``, under the name of the first versions of iOS 27.
  public var name: SectionTitle { title }
  public var startIndex: Int { 0 }
  public var endIndex: Int { models.count }
  public subscript(position: Int) -> Element { models[position] }
}
