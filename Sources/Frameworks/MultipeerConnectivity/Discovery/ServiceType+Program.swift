import FrameworkSupport
import NearbySessions

extension ServiceType {
  /// The type for programs that find each other by other means.
  static let unadvertised = ServiceType(program: "bled-multipeer")

  /// - Parameter text: 1 to 15 of a–z, 0–9 and "-", a letter among them, and no "-" at an end or beside another one.
  ///   Anything else ends the program.
  init(program text: String) {
    guard let type = ServiceType(text) else {
      ProgramLog.raise("\"\(text)\" is not a service type: 1 to 15 of a-z, 0-9 and single hyphens within, and a letter")
    }
    self = type
  }
}
