import Bluetooth
import GATT
import JSONFiles
import MCUmgr
import ScenarioRules

/// A device that is managed and updated with MCUmgr.
package struct FirmwareDescription: ReadableFromFile, Sendable {
  /// The faults.
  package struct Faults: ReadableFromFile, Sendable {
    /// The probability that a request is dropped.
    package var requests = 0.0
    /// The probability that an answer is dropped.
    package var answers = 0.0
    /// The octet of an upload at which the device disconnects, once; nil for never.
    var disconnectAt: Int?
    /// True if the last octet of an upload is stored with another value.
    var damage = false

    package init() {}

    private enum Keys: String, CaseIterable { case requests, answers, disconnectAt, damage }

    package init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      requests = try members.number(.requests, in: 0...1, default: 0)
      answers = try members.number(.answers, in: 0...1, default: 0)
      disconnectAt = try members.optional(.disconnectAt) { value throws(FileError) in
        try value.integer(in: 1...Self.largest)
      }
      damage = try members.value(.damage, default: false)
    }

    fileprivate static let largest = 16 << 20
  }

  /// A command of the device's shell, with its output.
  struct ShellLine: ReadableFromFile, Sendable {
    var command: String
    var output: String

    private enum Keys: String, CaseIterable { case command, output }

    init(_ value: FileValue) throws(FileError) {
      let members = try FileMembers(value, Keys.self)
      command = try members.required(.command)
      output = try members.required(.output)
    }
  }

  /// The version of the image that runs at first.
  package var version: String
  /// Octets that a slot has room for.
  var slotSize: Int
  /// How many frames can wait.
  var buffers: Int
  /// Octets of a frame.
  var bufferSize: Int
  /// True if it joins a frame that is longer than a packet.
  var joins: Bool
  /// The time that the slot takes to be erased.
  var eraseTime: TimeSpan
  /// The time that a restart takes.
  var restartTime: TimeSpan
  var shell: [ShellLine]
  package var faults: Faults

  private enum Keys: String, CaseIterable {
    case version, slotSize, buffers, bufferSize, joins, eraseTime, restartTime, shell, faults
  }

  package init(_ value: FileValue) throws(FileError) {
    let members = try FileMembers(value, Keys.self)
    version = try members.value(.version, default: "1.0.0")
    slotSize = try members.integer(.slotSize, in: 1...Faults.largest, default: 1 << 20)
    buffers = try members.integer(.buffers, in: 1...64, default: 4)
    bufferSize = try members.integer(.bufferSize, in: 64...16384, default: 1024)
    joins = try members.value(.joins, default: true)
    eraseTime = try members.value(.eraseTime, default: TimeSpan(0))
    restartTime = try members.value(.restartTime, default: TimeSpan(0.5))
    shell = try members.value(.shell, default: [])
    faults = try members.optional(.faults) ?? Faults()
  }

  /// The service that carries MCUmgr.
  static let service = ServiceDescription(
    uuid: ManagementService.uuid, isPrimary: true, includes: [],
    characteristics: [
      CharacteristicDescription(
        uuid: ManagementService.characteristic, properties: [.writeWithoutResponse, .notify],
        value: ValueDescription(template: [], rule: nil), descriptors: [], security: SecurityDescription())
    ])
}
