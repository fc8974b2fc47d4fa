using Esb.Core.Messages;

namespace Esb.Content.Xml.Scanning;

/// <summary>The passes over one body, one for each set of paths; a configuration has one set. Thread-safe.</summary>
internal sealed class XmlScans(MessageBody body)
{
    private readonly Lock _gate = new();
    private readonly List<(PathSet Paths, XmlScan Scan)> _scans = new(capacity: 1);

    /// <summary>The number of bytes of the body that all passes together have read.</summary>
    public long BytesRead
    {
        get
        {
            lock (_gate)
                return _scans.Sum(known => known.Scan.Position);
        }
    }

    public XmlScan Of(PathSet paths, XmlInput xml)
    {
        lock (_gate)
        {
            foreach (var known in _scans)
            {
                if (known.Paths == paths)
                    return known.Scan;
            }

            var scan = new XmlScan(paths, xml, body);
            _scans.Add((paths, scan));
            return scan;
        }
    }
}
