using System.Globalization;
using Esb.IntegrationTests.Faults.Results;

namespace Esb.IntegrationTests.Speed;

/// <summary>Rates of adapters beside their plain client libraries, as Markdown.</summary>
internal sealed class SpeedTable(int rounds, int bytes)
{
    private readonly List<string> _rows = [];

    /// <summary>Adds an adapter, and returns its row.</summary>
    /// <param name="adapter">The adapter.</param>
    /// <param name="client">What it is compared with.</param>
    /// <param name="atOnce">Messages under way at once.</param>
    /// <param name="ours">Messages a second of the adapter.</param>
    /// <param name="plain">Messages a second of the plain client.</param>
    public string Add(string adapter, string client, int atOnce, double ours, double plain)
    {
        var row = string.Create(
            CultureInfo.InvariantCulture,
            $"| {adapter} | {client} | {atOnce} | {ours:N0} | {plain:N0} | {ours / plain:0.00} |"
        );
        _rows.Add(row);
        return row;
    }

    public override string ToString() =>
        string.Create(
            CultureInfo.InvariantCulture,
            $"""
            Run of {TimeProvider.System.GetUtcNow():yyyy-MM-dd HH:mm} UTC on {Machine.Describe()}. {bytes:N0} bytes a message; the best of {rounds} rounds that alternate, after one that warms up.

            | adapter | beside | at once | adapter, /s | plain client, /s | ratio |
            | --- | --- | ---: | ---: | ---: | ---: |
            {string.Join('\n', _rows)}

            """
        );
}
