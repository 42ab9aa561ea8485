import Bluetooth
import HCI

/// The encryption of one end of a link (Core 5.4, Vol 6, Part B, 5.1.3).
///
/// | State     | Input                                | Actions, next state                                 |
/// |-----------|--------------------------------------|-----------------------------------------------------|
/// | off, on   | the host's wish; central             | `send` the request → requested, or pausing if it is on |
/// | pausing   | the other side pauses                | `send` the request → requested                      |
/// | off, pausing | the request; peripheral           | `report` the question for the key → asked           |
/// | asked     | a key                                | `send` the start → starting                         |
/// | asked     | no key                               | `send` a rejection → off; `terminate` if it was on  |
/// | starting  | the other side's start, of our key   | `report` → on                                       |
/// | starting  | the same of another key              | `end` 0x3D                                          |
struct LinkEncryption {
  private enum State: Hashable {
    case off, on, pausing, requested, asked, starting
  }

  private let role: LinkRole
  private let handle: ConnectionHandle
  private var state = State.off
  /// The key with which the host wants this side to encrypt.
  private var key: [UInt8]?
  /// The central's request.
  private var request: ControlPDU?
  /// True if encryption is begun again.
  private var isRefresh = false

  init(_ role: LinkRole, _ handle: ConnectionHandle) { (self.role, self.handle) = (role, handle) }

  /// True while data wait for encryption to begin.
  var isPaused: Bool { state != .off && state != .on }

  /// The central's host wants it.
  mutating func begin(_ key: [UInt8], random: UInt64, diversifier: UInt16) -> [LinkProcedures.Action] {
    let request = ControlPDU.encryption(random: random, diversifier: diversifier)
    (self.key, self.request) = (key, request)
    isRefresh = state == .on
    state = isRefresh ? .pausing : .requested
    return [.send(isRefresh ? .pauseEncryption : request)]
  }

  /// The peripheral's host gives a key, or has none.
  mutating func keyed(_ key: [UInt8]?) throws(Refusal) -> [LinkProcedures.Action] {
    guard state == .asked else { throw Refusal(.commandDisallowed) }
    self.key = key
    if key != nil {
      state = .starting
      return [.send(.startEncryption)]
    }
    // Without the old key there is no way back (5.1.3.1).
    if isRefresh { return [.terminate(.pinOrKeyMissing)] }
    state = .off
    return [.send(.reject(.encryption, .pinOrKeyMissing))]
  }

  /// The peripheral has no key.
  mutating func rejected(_ reason: HCIErrorCode) -> HCIEvent {
    state = .off
    return .encryptionChange(EncryptionChange { ($0.status, $0.handle) = (HCIStatus(reason), handle) })
  }

  mutating func receive(_ packet: ControlPDU) -> [LinkProcedures.Action] {
    switch (packet, role) {
    case (.pauseEncryption, .peripheral):
      state = .pausing
      return [.send(.pauseEncryptionResponse)]
    case (.pauseEncryptionResponse, .central):
      guard state == .pausing, let request else { return [] }
      state = .requested
      return [.send(.pauseEncryptionResponse), .send(request)]
    case (.encryption(let random, let diversifier), .peripheral):
      isRefresh = state == .pausing
      state = .asked
      return [
        .send(.encryptionResponse),
        .report(
          .leLongTermKeyRequest(
            LELongTermKeyRequest {
              ($0.handle, $0.randomNumber, $0.encryptedDiversifier) = (handle, random, diversifier)
            })),
      ]
    case (.startEncryption, .central):
      state = .starting
      return [.send(.startEncryptionResponse(key: key ?? []))]
    case (.startEncryptionResponse(let theirs), .peripheral):
      // A packet encrypted with another key fails its check (5.1.3.1).
      guard theirs == key else { return [.end(.terminatedMICFailure)] }
      return [.send(.startEncryptionResponse(key: theirs)), .report(begun())]
    case (.startEncryptionResponse, .central): return [.report(begun())]
    default: return []
    }
  }

  private mutating func begun() -> HCIEvent {
    state = .on
    return isRefresh
      ? .encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete { $0.handle = handle })
      : .encryptionChange(EncryptionChange { ($0.handle, $0.mode) = (handle, 1) })
  }
}
