import Adapter
import Testing

@Suite struct QuirkTableTests {
  private let model = QuirkTable.Model(modalias: "usb:v0A12p0001d8891", company: 10, hciRevision: 1, revision: 0x2031)

  @Test func knownControllersAreFoundByTheirNameOrTheirMaker() {
    let table = QuirkTable()
    let actions = table.entries(of: .init(modalias: "usb:v10D7pB012d8891dcE0dsc01dp01icE0isc01ip01in00\n"))
    #expect(actions.map(\.quirk) == [.extendedScanning, .extendedConnecting])
    #expect(actions[0].reason.hasPrefix("Actions ATS2851: extended scanning receives nothing") == true)
    #expect(actions[0].learned == nil)
    #expect(table.quirks(of: .init(company: 0x05F1)) == [.staticAddresses, .flowControl])
    #expect(table.quirks(of: .init(modalias: "usb:v8087p0029d0001", company: 2)) == [])
    #expect(table.quirks(of: .init()) == [])
  }

  @Test func learnedQuirksHoldForOneRevision() {
    var table = QuirkTable()
    let quirk = Quirk.exclusion(.connecting, beside: .scanning)
    let learned = [1000, 2000].map { table.learn(quirk, of: model, at: $0) }
    #expect(learned == [true, false])
    #expect(table.entries(of: model) == [.init(quirk, learned: 1000)])
    var newer = model
    newer.revision = 0x2032
    #expect(table.quirks(of: newer) == [])
    let forgotten = [1, 2].map { _ in table.forget(quirk, of: model) }
    #expect(forgotten == [true, false] && table.learned == [:])
  }

  @Test func whatIsKnownIsNotLearned() {
    var table = QuirkTable()
    let actions = QuirkTable.Model(modalias: "usb:v10D7pB012")
    table.learn(.extendedScanning, of: actions, at: 1)
    table.learn(.flowControl, of: model, at: 1)
    #expect(table.learned == [:])
  }

  @Test func theModelOfWhichNothingWasLearnedForTheLongestTimeGivesWay() {
    var table = QuirkTable()
    for revision in 0..<QuirkTable.maximumModels {
      table.learn(.silence, of: .init(company: 1, revision: UInt16(revision)), at: Double(revision))
    }
    table.learn(.restarts, of: .init(company: 1, revision: 0), at: 100)
    table.learn(.silence, of: model, at: 50)
    #expect(table.learned.count == QuirkTable.maximumModels)
    #expect(table.quirks(of: .init(company: 1, revision: 1)) == [])
    #expect(table.quirks(of: .init(company: 1, revision: 0)) == [.silence, .restarts])
    #expect(table.quirks(of: model) == [.silence])
  }

  @Test func namesOfQuirksAreReadAgain() {
    let quirks: [Quirk] = [
      .extendedScanning, .extendedConnecting, .eventMask, .addressResolution, .silence, .restarts,
      .exclusion(.connecting, beside: .connectableAdvertising), .exclusion(.scanning, beside: .broadcasting),
    ]
    for quirk in quirks { #expect(Quirk(name: quirk.name) == quirk) }
    for name in ["", "flowControl", "connecting beside connecting", "connecting", "silence\0"] {
      #expect(Quirk(name: name) == nil)
    }
  }

  @Test func aModaliasIsBounded() {
    let name = String(repeating: "é\n", count: 400) + "usb"
    #expect(QuirkTable.Model(modalias: name).modalias.utf8.count <= 256)
    #expect(QuirkTable.Model(modalias: "usb:v1 \n").modalias == "usb:v1")
  }
}
