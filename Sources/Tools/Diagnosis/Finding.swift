/// A check's result.
public struct Finding: Encodable, Hashable, Sendable {
  /// The checks.
  public enum Check: String, Encodable, Sendable, CaseIterable {
    case kernel, adapter, rfkill, firmware, owner, service, socket, group, bluez, mqtt, esphome, hid, midi, daemon
    case store
  }

  /// The result of a check.
  public enum Verdict: String, Encodable, Sendable {
    case ok
    /// Worth knowing; no action is needed.
    case note
    /// Something does not work.
    case problem
  }

  /// The check.
  public let check: Check
  /// The result of the check.
  public let verdict: Verdict
  /// The observation, in a sentence.
  public let message: String
  /// The remedy; nil if nothing is wrong.
  public let remedy: String?

  /// Describes a finding.
  public init(_ check: Check, _ verdict: Verdict, _ message: String, remedy: String? = nil) {
    self.check = check
    self.verdict = verdict
    self.message = message
    self.remedy = remedy
  }
}
