import Bluetooth
import BluetoothCrypto
import HCI

/// The resolving list of one controller: the bonded devices whose private addresses it resolves by itself, so that it
/// connects to them when it hears them, under each of their addresses.
///
/// | The list                    | Next command                                                             |
/// |-----------------------------|--------------------------------------------------------------------------|
/// | is as wanted                | resolution on if there is any device, else off; nil if that is so        |
/// | differs, resolution is on   | resolution off                                                           |
/// | has a device too many       | it is removed                                                            |
/// | lacks a device              | it is added and put into device privacy mode                             |
///
/// The list of a controller that was reset is empty. A device that it refuses as one that it has is removed, and added
/// again; one that it refuses then is left out. A list whose device cannot be removed, or that is full too early, has
/// others than it should: it is cleared, once. In network privacy mode, which is the default, a device that uses its
/// identity address would not be heard. A controller that refuses a command is not trusted: it is to resolve nothing,
/// as one whose reports show that it does not resolve. One that is full keeps its devices. Resolution is not switched
/// while a controller looks for a train (Core 5.4, Vol 4, Part E, 7.8.44): that is postponed until `want`, and so is a
/// command that was not sent.
///
/// The owner sends the commands while nothing is scanned, advertised or connected.
package struct ResolvingList {
  package struct Entry: Hashable {
    /// The device's identity address.
    package let device: DeviceAddress
    /// The key that resolves its private addresses.
    package let key: Key128
    /// The key that resolves ours; nil for none.
    package let localKey: Key128?

    package init(device: DeviceAddress, key: Key128, localKey: Key128?) {
      (self.device, self.key, self.localKey) = (device, key, localKey)
    }
  }

  private enum Step: Hashable {
    case enable(Bool)
    case remove(Entry)
    /// The device is removed because it was refused.
    case clear(Entry)
    /// All are removed, as it is not known which there are.
    case clearAll
    case add(Entry, isSecond: Bool)
    case setMode(Entry)
  }

  /// How many devices it holds.
  private var size: Int
  private var wanted: [Entry] = []
  private var listed: [Entry] = []
  private var isResolving = false
  private var isTrusted = true
  /// Whether resolution could not be switched, or a command not be sent, for now.
  package private(set) var isPostponed = false
  /// Whether it was cleared for the present wishes.
  private var wasCleared = false
  /// The devices that the controller does not take.
  private var refused: Set<Entry> = []
  /// The command that is being executed.
  private var step: Step?
  /// The step after that one, for the same device.
  private var following: Step?

  package init(size: Int) { self.size = size }

  /// Whether the controller resolves the private addresses of this device.
  package func resolves(_ device: DeviceAddress) -> Bool {
    isResolving && isTrusted && listed.contains { $0.device == device }
  }

  /// Whether the controller resolves the private addresses of this device, or is about to: not while that is postponed.
  package func isToResolve(_ device: DeviceAddress) -> Bool {
    target.contains { $0.device == device } && (!isPostponed || resolves(device))
  }

  /// Whether the controller should have resolved a private address that it reported.
  package func shouldResolve(_ address: DeviceAddress, of device: DeviceAddress) -> Bool {
    resolves(device) && listed.contains { $0.device == device && wanted.contains($0) && address.isResolved(by: $0.key) }
  }

  /// Whether there is something to change.
  package var isDue: Bool { !isAsWanted || isResolving == target.isEmpty }

  private var isAsWanted: Bool { Set(listed) == Set(target) }

  private var target: [Entry] { isTrusted ? Array(wanted.lazy.filter { !refused.contains($0) }.prefix(size)) : [] }

  /// The devices that are to be in the list, the most important first.
  package mutating func want(_ entries: [Entry]) {
    wanted = entries
    wasCleared = false
    refused.formIntersection(entries)
    isPostponed = false
  }

  /// The controller does not resolve the addresses of its devices.
  package mutating func distrust() { isTrusted = false }

  /// The controller may have been reset. A device that it has nevertheless is refused first, as above.
  package mutating func forget() {
    (listed, isResolving) = ([], false)
    (step, following) = (nil, nil)
  }

  /// The next command; nil if there is none. `answered` must follow each.
  package mutating func next() -> CommandPacket? {
    guard !isPostponed else { return nil }
    step = following ?? nextStep
    following = nil
    return step.map(Self.command)
  }

  private var nextStep: Step? {
    guard isDue else { return nil }
    guard !isAsWanted else { return .enable(!target.isEmpty) }
    if isResolving { return .enable(false) }
    if let superfluous = listed.first(where: { !target.contains($0) }) { return .remove(superfluous) }
    return target.first { !listed.contains($0) }.map { .add($0, isSecond: false) }
  }

  /// The last command of `next` was not sent.
  package mutating func postpone() {
    (following, step) = (step, nil)
    isPostponed = true
  }

  /// Takes the answer to the last command of `next`.
  package mutating func answered(_ status: HCIStatus) {
    guard let step else { return }
    self.step = nil
    switch step {
    case .enable(let isOn):
      if status.isSuccess {
        isResolving = isOn
      } else if status.code == .commandDisallowed {
        isPostponed = true
      } else {
        giveUp()
      }
    case .remove(let entry):
      // One that the list lacks is removed, too.
      if status.isSuccess || status.code == .unknownConnectionIdentifier {
        listed.removeAll { $0 == entry }
      } else {
        clearAll()
      }
    case .clearAll:
      if status.isSuccess { listed = [] } else { giveUp() }
    case .clear(let entry): following = .add(entry, isSecond: true)
    case .add(let entry, let isSecond):
      if status.isSuccess {
        following = .setMode(entry)
      } else if status.code == .invalidHCICommandParameters, !isSecond {
        following = .clear(entry)
      } else if status.code == .invalidHCICommandParameters {
        refused.insert(entry)
      } else if status.code == .memoryCapacityExceeded {
        if listed.count < size, !wasCleared { clearAll() } else { size = listed.count }
      } else {
        distrust()
      }
    case .setMode(let entry):
      listed.append(entry)
      if !status.isSuccess { distrust() }
    }
  }

  private mutating func clearAll() {
    guard !wasCleared else { return giveUp() }
    (following, wasCleared) = (.clearAll, true)
  }

  /// Whether the controller resolves anything is left as it is.
  private mutating func giveUp() {
    distrust()
    (listed, isResolving) = ([], false)
  }

  private static func command(_ step: Step) -> CommandPacket {
    switch step {
    case .enable(let isOn): CommandPacket(LESetAddressResolutionEnable { $0.isEnabled = isOn })
    case .remove(let entry), .clear(let entry):
      CommandPacket(LERemoveDeviceFromResolvingList { $0.peer = HCIAddress(entry.device) })
    // LE Clear Resolving List (7.8.40).
    case .clearAll: CommandPacket(opcode: 0x2029, parameters: [])
    case .add(let entry, _):
      CommandPacket(
        LEAddDeviceToResolvingList {
          $0.peer = HCIAddress(entry.device)
          $0.peerKey = entry.key.littleEndian
          $0.localKey = entry.localKey?.littleEndian ?? []
        })
    case .setMode(let entry):
      CommandPacket(
        LESetPrivacyMode {
          $0.peer = HCIAddress(entry.device)
          $0.mode = 1
        })
    }
  }
}
