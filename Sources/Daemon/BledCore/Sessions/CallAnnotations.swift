import BledRPC
import Bluetooth
import Capture

/// A recording's note of a call: its session and subject.
final class CallAnnotation {
  fileprivate let text: String
  fileprivate var wasWritten = false

  fileprivate init(_ text: String) { self.text = text }
}

/// The notes of calls, during a recording: each is written directly before the packets caused by its call.
///
/// | A call                               | Its note is written                                             |
/// |--------------------------------------|-----------------------------------------------------------------|
/// | that waits for its turn on a link    | when its operation begins, and when it continues behind another |
/// | the same, if it reached no operation | when it has been handled                                        |
/// | any other                            | before it is handled                                            |
/// | of the daemon itself, on a link      | when its operation begins                                       |
final class CallAnnotations {
  /// Writes into all recordings; nil while there is none.
  var write: ((String) -> Void)?
  /// The name of a device, if it has one, and its address, by its identifier; nil for an unknown one.
  var describe: (String) -> (name: String?, address: DeviceAddress)? = { _ in nil }
  /// The note of the current call, which may reach an operation.
  private var pending: (annotation: CallAnnotation, session: Session)?

  /// A session makes a call.
  /// - Parameter waitsForLink: true if it reaches an operation on a link.
  func called(_ method: String, _ message: RPCMessage, by session: Session, waitsForLink: Bool) {
    guard let write else { return }
    let text = "\(session.label): \(method)\(message.concerned(CallSubject.self)?.text(device) ?? "")"
    if waitsForLink { pending = (CallAnnotation(text), session) } else { write(text) }
  }

  /// Attributes are known from an earlier link, and will not be discovered on this one.
  func add(_ notes: @autoclosure () -> [AttributeNote]) {
    guard let write else { return }
    for note in notes() { write(note.text) }
  }

  /// The call has been handled.
  func handled() {
    guard let annotation = pending?.annotation else { return }
    pending = nil
    write?(annotation.text)
  }

  /// The note of an operation reached by the current call, or of the daemon's own one; nil without a recording.
  /// - Parameter device: the target device's identifier.
  func claim(for session: Session?, on device: String) -> CallAnnotation? {
    guard write != nil else { return nil }
    guard let session else { return CallAnnotation("bled itself asks \(self.device(device))") }
    guard let found = pending, found.session === session else { return nil }
    pending = nil
    return found.annotation
  }

  /// "7D490508-… (Heart Belt, C0:DE:00:00:00:01)"; text from a program is bounded and quoted.
  private func device(_ text: String) -> String {
    let plain = text.excerpt.inAnnotation
    guard let (name, address) = describe(text) else { return plain }
    return "\(plain) (\(name.map { "\($0.excerpt.inAnnotation), " } ?? "")\(address))"
  }

  /// Packets on a link from now on are for this call.
  func begins(_ annotation: CallAnnotation) {
    write?(annotation.wasWritten ? "\(annotation.text) goes on" : annotation.text)
    annotation.wasWritten = true
  }
}

/// A call's subject, for notes.
private struct CallSubject: RPCPayload {
  var peripheral: String?
  var address: String?
  var service: BluetoothUUID?
  var characteristic: BluetoothUUID?
  var handle: UInt16?

  /// - Parameter device: describes the device.
  func text(_ device: (String) -> String) -> String {
    [
      (peripheral ?? address).map { " \(device($0))" }, service.map { " \($0.titled)" },
      characteristic.map { " \($0.titled)" }, handle.map { " handle \($0.handleText)" },
    ].compactMap { $0 }.joined()
  }
}

extension BluetoothUUID {
  /// "Body Sensor Location (2A38)", or the bare UUID.
  fileprivate var titled: String { knownName.map { "\($0) (\(self))" } ?? "\(self)" }
}

extension String {
  /// A program's text in a note. Text with characters outside words and addresses is quoted, so it cannot imitate the
  /// daemon's words around it.
  fileprivate var inAnnotation: String {
    guard !unicodeScalars.allSatisfy(Self.isPlain) else { return self }
    var quoted = "\""
    for scalar in unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .nonspacingMark, .spacingMark:
      true
    default: "._-+:/".unicodeScalars.contains(scalar)
    }
  }
}

extension Session {
  /// Its number and program, for notes.
  var label: String {
    let program = name.isEmpty ? credentials?.program?.excerpt ?? "" : name
    let names = [program.inAnnotation, user.map { "user \($0)" } ?? ""].filter { !$0.isEmpty }
    return names.isEmpty ? "session \(id)" : "session \(id) (\(names.joined(separator: ", ")))"
  }
}
