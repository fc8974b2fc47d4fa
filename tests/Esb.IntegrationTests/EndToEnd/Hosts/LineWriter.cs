using System.Text;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>Keeps the lines that are written to it. Thread-safe.</summary>
internal sealed class LineWriter : TextWriter
{
    private readonly Lock _gate = new();
    private readonly List<string> _lines = [];
    private readonly StringBuilder _line = new();

    public override Encoding Encoding => Encoding.UTF8;

    public IReadOnlyList<string> Lines
    {
        get
        {
            lock (_gate)
                return [.. _lines];
        }
    }

    public override void Write(char value) => Write([value]);

    public override void Write(char[] buffer, int index, int count) => Write(buffer.AsSpan(index, count));

    public override void Write(string? value) => Write(value.AsSpan());

    public override void Write(ReadOnlySpan<char> buffer)
    {
        lock (_gate)
        {
            for (var end = buffer.IndexOf('\n'); end >= 0; end = buffer.IndexOf('\n'))
            {
                _lines.Add(_line.Append(buffer[..end]).ToString().TrimEnd('\r'));
                _line.Clear();
                buffer = buffer[(end + 1)..];
            }

            _line.Append(buffer);
        }
    }
}
