import BledConnection
import BledRPC
import Bluetooth
import Foundation
import Testing

/// The table of cases in Tests/Uses, which the tests of the Python package play, too.
struct UsesTests {
  struct Case: Decodable, CustomTestStringConvertible {
    struct Step: Decodable {
      enum Input: String, Decodable {
        case begin, answered, ended, abandoned, late, use, leave, lost
      }

      let input: Input
      let call: Int?
      let request: Members?
      let thing: Members?
      let withdraw: [Members]?
      let release: [Members]?

      private enum CodingKeys: String, CodingKey {
        case input = "do"
        case call, request, thing, withdraw, release
      }
    }

    /// The members of a request or a thing.
    struct Members: Decodable, Hashable {
      var peripheral: String?
      var address: String?
      var addressType: DeviceAddress.Kind?
      var name: String?
      var handle: UInt16?
      var sid: Int?
    }

    enum Kind: String, Decodable {
      case link, subscription, train
    }

    let name: String
    let kind: Kind
    let steps: [Step]

    var testDescription: String { name }
  }

  static let cases: [Case] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = try? Data(contentsOf: folder.appending(path: "Uses/uses.json"))
    return data.flatMap { try? JSONDecoder().decode([Case].self, from: $0) } ?? []
  }()

  @Test func theTableIsThere() { #expect(Self.cases.count >= 11) }

  @Test(arguments: cases) func aCase(_ played: Case) {
    switch played.kind {
    case .link:
      play(played) {
        LinkRequest($0.withdrawal)
      } _: {
        UsedLink(peripheral: $0.peripheral ?? "", address: $0.address, addressType: $0.addressType)
      } _: {
        Case.Members($0.withdrawal)
      } _: {
        Case.Members(peripheral: $0.peripheral)
      }
    case .subscription:
      play(played) {
        SubscriptionRequest(peripheral: $0.peripheral ?? "", handle: $0.handle)
      } _: {
        CharacteristicReference(peripheral: $0.peripheral ?? "", handle: $0.handle ?? 0)
      } _: { _ in
        nil
      } _: {
        Case.Members(peripheral: $0.peripheral, handle: $0.handle)
      }
    case .train:
      play(played) {
        TrainRequest(PeriodicSync.Params(peripheral: $0.peripheral ?? "", sid: $0.sid))
      } _: {
        UsedTrain(peripheral: $0.peripheral ?? "", sid: $0.sid ?? 0, name: $0.name)
      } _: {
        Case.Members(peripheral: $0.withdrawal.peripheral, sid: $0.withdrawal.sid)
      } _: {
        Case.Members(peripheral: $0.peripheral, sid: $0.sid)
      }
    }
  }

  private func play<Request: UseRequest>(
    _ played: Case, _ request: (Case.Members) -> Request, _ thing: (Case.Members) -> Request.Thing,
    _ withdrawn: (Request) -> Case.Members?, _ released: (Request.Thing) -> Case.Members
  ) {
    var uses = Uses<Request>()
    for (index, step) in played.steps.enumerated() {
      let call = step.call ?? 0
      var undos: [Uses<Request>.Undo] = []
      switch (step.input, step.request, step.thing) {
      case (.begin, let members?, _): uses.begin(call, request(members))
      case (.answered, _, let members): undos = uses.answered(call, members.map(thing))
      case (.ended, _, _): undos = uses.ended(call)
      case (.abandoned, _, _): undos = uses.abandoned(call)
      case (.late, _, let members): undos = uses.late(call, members.map(thing))
      case (.use, _, let members?): uses.use(thing(members))
      case (.leave, _, let members?): undos = uses.leave(thing(members))
      case (.lost, _, let members?): undos = uses.lost(thing(members))
      case (.begin, nil, _), (.use, _, nil), (.leave, _, nil), (.lost, _, nil):
        Issue.record("step \(index) lacks a member")
      }
      let withdrawals = undos.compactMap { if case .withdraw(let request) = $0 { withdrawn(request) } else { nil } }
      let releases = undos.compactMap { if case .release(let thing) = $0 { released(thing) } else { nil } }
      #expect(withdrawals == step.withdraw ?? [], "step \(index) of \(played.name)")
      #expect(releases == step.release ?? [], "step \(index) of \(played.name)")
    }
  }
}

extension UsesTests.Case.Members {
  fileprivate var withdrawal: PeripheralDisconnect.Params {
    var params = PeripheralDisconnect.Params()
    (params.peripheral, params.address, params.addressType, params.name) = (peripheral, address, addressType, name)
    return params
  }

  fileprivate init(_ params: PeripheralDisconnect.Params) {
    self.init(
      peripheral: params.peripheral, address: params.address, addressType: params.addressType, name: params.name)
  }
}
