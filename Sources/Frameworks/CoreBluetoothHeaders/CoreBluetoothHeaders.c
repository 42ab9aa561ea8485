// The target has nothing to compile: its module map lets `import CoreBluetooth.CBUUID` name parts of CoreBluetooth.
