using System.Collections.Concurrent;

namespace Esb.Content.Xml.Scanning;

/// <summary>The passes over one body: one for each set of paths. Thread-safe.</summary>
internal sealed class XmlScans(ReadOnlyMemory<byte> bytes)
{
    private readonly ConcurrentDictionary<PathSet, XmlScan> _scans = new(concurrencyLevel: 1, capacity: 1);

    public XmlScan Of(PathSet paths, XmlInput xml) => _scans.GetOrAdd(paths, static (paths, scan) => new XmlScan(paths, scan.xml, scan.bytes), (xml, bytes));
}
