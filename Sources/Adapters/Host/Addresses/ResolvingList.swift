import Bluetooth
import BluetoothCrypto
import HCI

/// A controller's resolving list: the bonded devices whose private addresses it resolves by itself, so it connects to
/// them at each of their addresses.
///
/// | The list                    | Next command                                                             |
/// |-----------------------------|--------------------------------------------------------------------------|
/// | is as wanted                | resolution on if there is any device, else off; nil if that is so        |
/// | differs, resolution is on   | resolution off                                                           |
/// | has a device too many       | it is removed                                                            |
/// | lacks a device              | it is added and put into device privacy mode                             |
///
/// After a reset the list is empty. A device refused as already present is removed, and added again; if refused again
/// it is left out. A list whose device cannot be removed, or that is full too early, has unexpected entries: it is
/// cleared, once. In network privacy mode, which is the default, a device using its identity address would not be
/// received. A controller that refuses a command is not trusted, nor is one whose reports show that it does not
/// resolve: it is set to resolve nothing. A full list keeps its devices. Resolution is not switched while a controller
/// searches for a train (Core 5.4, Vol 4, Part E, 7.8.44): that is postponed until `want`, as is an unsent command.
///
/// The owner sends the commands while nothing is scanned, advertised or connected.
package struct ResolvingList {
  package struct Entry: Hashable {
    /// The device's identity address.
    package let device: DeviceAddress
    /// The key for its private addresses.
    package let key: Key128
    /// The key for ours; nil for none.
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
    /// All are removed, as the present ones are unknown.
    case clearAll
    case add(Entry, isSecond: Bool)
    case setMode(Entry)
  }

  /// Its capacity.
  private var size: Int
  private var wanted: [Entry] = []
  private var listed: [Entry] = []
  private var isResolving = false
  private var isTrusted = true
  /// True if resolution could not be switched, or a command not be sent, for now.
  package private(set) var isPostponed = false
  /// True if it was cleared for the present wishes.
  private var wasCleared = false
  /// The devices refused by the controller.
  private var refused: Set<Entry> = []
  /// The command in progress.
  private var step: Step?
  /// The next step, for the same device.
  private var following: Step?

  package init(size: Int) { self.size = size }

  /// True if the controller resolves this device's private addresses.
  package func resolves(_ device: DeviceAddress) -> Bool {
    isResolving && isTrusted && listed.contains { $0.device == device }
  }

  /// True if the controller resolves this device's private addresses, or is about to: not while that is postponed.
  package func isToResolve(_ device: DeviceAddress) -> Bool {
    target.contains { $0.device == device } && (!isPostponed || resolves(device))
  }

  /// True if the controller should have resolved a reported private address.
  package func shouldResolve(_ address: DeviceAddress, of device: DeviceAddress) -> Bool {
    resolves(device) && listed.contains { $0.device == device && wanted.contains($0) && address.isResolved(by: $0.key) }
  }

  /// True if there is something to change.
  package var isDue: Bool { !isAsWanted || isResolving == target.isEmpty }

  private var isAsWanted: Bool { Set(listed) == Set(target) }

  private var target: [Entry] { isTrusted ? Array(wanted.lazy.filter { !refused.contains($0) }.prefix(size)) : [] }

  /// The devices for the list, the most important first.
  package mutating func want(_ entries: [Entry]) {
    wanted = entries
    wasCleared = false
    refused.formIntersection(entries)
    isPostponed = false
  }

  /// The controller does not resolve its devices' addresses.
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
      // A device missing in the list is removed, too.
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

  /// The resolution switch is left unchanged.
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
