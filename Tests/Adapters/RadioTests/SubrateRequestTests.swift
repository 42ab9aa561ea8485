import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Subrating (Core 5.4, Vol 6, Part B, 4.5.1): the commands to the controller, and the way of a link to its subrate.
struct SubrateRequestTests {
  private static let both: UInt64 = 1 << 37 | 1 << 38

  /// Examines a controller with these features and without these bits of its supported commands.
  private func setUp(
    _ features: UInt64, without absent: (octet: Int, bits: UInt8)? = nil, hostFeature: UInt8 = 0
  ) -> (sent: [CommandPacket], profile: ControllerProfile?) {
    SetUpScript.play(
      features, without: absent, [LESetHostFeature.opcode: [hostFeature], LESetDefaultSubrate.opcode: [0]])
  }

  @Test("A controller that can is told so before there is a link, and the event is unmasked beside the kernel's")
  func enabled() throws {
    let (sent, profile) = setUp(1 << 37)
    let mask = try #require(sent.first { $0.opcode == LESetEventMask.opcode })
    // The events of the commands that this controller has, and bit 34.
    #expect(mask.parameters == [0x8F, 0x19, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00])
    let host = try #require(sent.first { $0.opcode == LESetHostFeature.opcode })
    #expect(host.parameters == [38, 1])
    let standard = try #require(sent.first { $0.opcode == LESetDefaultSubrate.opcode })
    #expect(standard.parameters == [1, 0, 50, 0, 9, 0, 0, 0, 0x80, 0x0C])
    #expect(profile?.usableFeatures.contains(.subrating) == true)
  }

  @Test("Without the feature or one of its commands nothing is sent; a refusal of the host's bit leaves it unused")
  func disabled() {
    let commands = [LESetEventMask.opcode, LESetHostFeature.opcode, LESetDefaultSubrate.opcode]
    for (sent, profile) in [
      setUp(1 << 38), setUp(Self.both, without: (44, 0x02)), setUp(Self.both, without: (46, 0x01)),
      setUp(Self.both, without: (46, 0x02)),
    ] {
      #expect(!sent.contains { commands.contains($0.opcode) })
      #expect(profile?.usableFeatures.isDisjoint(with: .subrating) == true)
    }
    #expect(setUp(1 << 37, hostFeature: 0x0C).profile?.usableFeatures.contains(.subrating) == false)
    // Set by the previous owner of the controller, while there is a link.
    #expect(setUp(Self.both, hostFeature: 0x0C).profile?.usableFeatures.contains(.subrating) == true)
  }

  private func link(_ milliseconds: Int, _ subrate: Int = 1, _ continuation: Int = 0) -> LinkParameters {
    LinkParameters(
      interval: .milliseconds(milliseconds), latency: 1, supervisionTimeout: .seconds(6), subrate: subrate,
      continuation: continuation)
  }

  private func wanted(_ milliseconds: Int, _ subrate: ClosedRange<Int> = 1...1) -> ConnectionParameters {
    let interval = Duration.milliseconds(milliseconds)
    return ConnectionParameters(
      interval: interval...interval, latency: 1, supervisionTimeout: .seconds(6), subrate: subrate)
  }

  @Test func theIntervalComesFirstAndTheSubrateAfterIt() {
    #expect(ParameterStep.first(from: nil, to: wanted(30, 2...4)) == .update)
    #expect(ParameterStep.first(from: link(15), to: wanted(30, 2...4)) == .update)
    #expect(ParameterStep.first(from: link(30), to: wanted(30, 2...4)) == .subrate)
    #expect(ParameterStep.first(from: link(30, 4), to: wanted(30)) == .subrate)
    // The latency or the timeout alone.
    #expect(ParameterStep.first(from: link(30, 4), to: wanted(30, 2...4)) == .update)
    #expect(ParameterStep.next(after: link(30), to: wanted(30, 2...4)) == .subrate)
    #expect(ParameterStep.next(after: link(30, 4), to: wanted(30)) == .subrate)
    #expect(ParameterStep.next(after: link(30), to: wanted(30)) == nil)
    #expect(ParameterStep.next(after: nil, to: wanted(30)) == nil)
    #expect(ParameterStep.next(after: nil, to: wanted(30, 2...4)) == .subrate)
  }

  @Test("What is in force: the event's values; another interval ends the subrating, the same one does not")
  func inForce() throws {
    let change = LESubrateChange {
      $0.handle = 0x40
      $0.factor = 4
      $0.latency = 1
      $0.continuationNumber = 2
      $0.supervisionTimeout = 600
    }
    let (handle, news) = try #require(LinkNews.reported(by: .leSubrateChange(change)))
    #expect(handle == 0x40 && news == .subrate(change))
    let subrated = link(30).subrated(by: change)
    #expect(subrated == link(30, 4, 2))
    #expect(link(30).updated(from: subrated) == subrated)
    #expect(link(15).updated(from: subrated) == link(15))
    #expect(link(15).updated(from: nil) == link(15))
    #expect(link(30).subrated(by: LESubrateChange()).subrate == 1)
  }

  @Test func whatSatisfiesAWish() {
    #expect(link(30, 4, 2).satisfy(wanted(30, 2...4)))
    #expect(!link(30, 5).satisfy(wanted(30, 2...4)))
    #expect(!link(30).satisfy(wanted(30, 2...4)))
    #expect(link(30).satisfy(wanted(30, 1...4)))
    var quick = wanted(30, 2...4)
    quick.continuation = 3
    #expect(link(30, 4, 3).satisfy(quick) && !link(30, 4, 2).satisfy(quick))
    // One less than the factor is all that there can be.
    #expect(link(30, 2, 1).satisfy(quick))
    // With a subrate the latency is a limit.
    quick.latency = 3
    #expect(link(30, 4, 3).satisfy(quick))
    #expect(!link(30, 4, 3).satisfy(wanted(30)))
  }
}
