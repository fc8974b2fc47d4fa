using Esb.Core.Configuration.Settings;

namespace Esb.Content.Lookups;

/// <summary>An entry of the section <c>lookups</c>.</summary>
[ExactlyOne("file", "connection")]
public sealed record LookupConfig : SettingsRecord
{
    /// <summary>The file with the entries.</summary>
    [Setting(
        "The file with the entries: CSV with a header, or a text of a format. A change is in use within 3 s.",
        Main = true,
        IsPath = true
    )]
    public string? File { get; init; }

    /// <summary>The column that an entry is found by.</summary>
    [Setting("Of a file: the column that entries are found by; by default the first. Each value stands in it once.")]
    public string? Key { get; init; }

    /// <summary>The format of the file.</summary>
    [Setting("Of a file: its format, whose records are objects; by default CSV with commas and a header.", Reference = "formats")]
    public string? Format { get; init; }

    /// <summary>The database with the entries.</summary>
    [Setting("The database with the entries.", Reference = "connections")]
    public string? Connection { get; init; }

    /// <summary>The query for an entry.</summary>
    [Setting("Of a database: the query whose first row is the entry of @key, its only parameter.")]
    public string? Query { get; init; }

    /// <summary>How long entries are kept.</summary>
    [Setting("Of a database: how long an entry, also a missing one, is kept on each host; by default each message asks.", Range = "0s..7d")]
    public TimeSpan Cache { get; init; }

    /// <summary>The longest time a query takes.</summary>
    [Setting("Of a database: how long the query may take, with the wait for a connection.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(10);
}
