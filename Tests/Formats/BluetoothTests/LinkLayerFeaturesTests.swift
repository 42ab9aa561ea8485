import Bluetooth
import Testing

@Suite("Features of a Link Layer")
struct LinkLayerFeaturesTests {
  @Test("bits have the specification's names, also beyond the first 64, and later ones their numbers")
  func names() {
    let features = LinkLayerFeatures(words: [1 << 8 | 1, 1 << 8 | 1 << 63])
    #expect(features.numbers == [0, 8, 72, 127])
    #expect(
      features.names == ["LE Encryption", "LE 2M PHY", "Shorter Connection Intervals", "unknown feature bit 127"])
    #expect(features == LinkLayerFeatures([1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0x80]))
  }
}
