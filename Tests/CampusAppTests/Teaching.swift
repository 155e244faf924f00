import Foundation
import SwiftData

@Model
final class Course {
  #Unique<Course>([\.title, \.level])
  #Index<Course>([\.credits], [\.level, \.title])

  var title: String
  var credits: Int = 4
  var level: Int = 1
  var department: Department?
  @Relationship(deleteRule: .cascade, inverse: \Enrollment.course) var enrollments: [Enrollment] =
    []
  @Relationship(deleteRule: .cascade, inverse: \Exam.course) var exams: [Exam] = []
  @Relationship(deleteRule: .cascade, inverse: \Lecture.course) var lectures: [Lecture] = []
  @Relationship(deleteRule: .cascade, inverse: \Assignment.course) var assignments: [Assignment] =
    []
  @Relationship(inverse: \Course.followUps) var prerequisites: [Course] = []
  var followUps: [Course] = []
  var campus: Campus?

  init(title: String, credits: Int = 4) {
    self.title = title
    self.credits = credits
  }
}

@Model
final class Programme {
  var name: String
  var degree: Degree = Degree.bachelor
  var terms: Int = 6
  @Relationship(inverse: \Student.programme) var students: [Student] = []
  var campus: Campus?

  init(name: String) {
    self.name = name
  }
}

@Model
final class Term {
  #Unique<Term>([\.name])

  var name: String
  var starts: Date
  var ends: Date
  @Relationship(inverse: \Enrollment.term) var enrollments: [Enrollment] = []
  var campus: Campus?

  init(name: String, starts: Date, ends: Date) {
    self.name = name
    self.starts = starts
    self.ends = ends
  }
}

@Model
final class Enrollment {
  #Unique<Enrollment>([\.student, \.course, \.term])

  var enrolledAt: Date = Date.now
  var grade: Double?
  var student: Student?
  var course: Course?
  var term: Term?

  init() {}
}

@Model
final class Exam {
  var takesPlaceAt: Date
  var minutes: Int = 90
  var course: Course?
  @Relationship(deleteRule: .cascade, inverse: \ExamResult.exam) var results: [ExamResult] = []

  init(takesPlaceAt: Date) {
    self.takesPlaceAt = takesPlaceAt
  }
}

@Model
final class ExamResult {
  var points: Decimal
  var isPassed = false
  var exam: Exam?
  var student: Student?

  init(points: Decimal) {
    self.points = points
  }
}

@Model
final class Lecture {
  var topic: String
  var week: Int
  var speaker: Teacher?
  var course: Course?
  var slides: [URL] = []

  init(topic: String, week: Int) {
    self.topic = topic
    self.week = week
  }
}

@Model
final class Assignment {
  var title: String
  var dueAt: Date
  var weight: Double = 1.0
  var course: Course?
  @Relationship(deleteRule: .cascade, inverse: \Submission.assignment) var submissions:
    [Submission] = []

  init(title: String, dueAt: Date) {
    self.title = title
    self.dueAt = dueAt
  }
}

@Model
final class Submission {
  var handedInAt: Date?
  var text: String = ""
  var assignment: Assignment?
  var student: Student?
  @Relationship(deleteRule: .cascade, inverse: \Comment.submission) var comments: [Comment] = []

  init() {}
}

@Model
final class Comment {
  var text: String
  var writtenAt: Date = Date.now
  var submission: Submission?
  var author: Person?

  init(text: String) {
    self.text = text
  }
}
