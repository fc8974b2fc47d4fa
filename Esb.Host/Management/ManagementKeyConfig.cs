using System.Globalization;
using Esb.Core.Configuration.Settings;

namespace Esb.Host.Management;

/// <summary>An entry of <c>management.keys</c>: a person or a program.</summary>
internal sealed record ManagementKeyConfig : SettingsRecord
{
    /// <summary>The shortest key, in characters.</summary>
    public const int ShortestKey = 32;

    [Setting("What its owner may do: see (viewer), also operate (operator), or all (administrator).")]
    public required ManagementRole Role { get; init; }

    [Setting("The key, or several while one replaces another; at least 32 characters each.", Secret = true, TakesOne = true)]
    public required IReadOnlyList<string> Key { get; init; }

    [Setting("The key is refused from then on: a day such as 2027-01-01, or a time such as 2027-01-01T12:00:00Z; never by default.")]
    public string? Expires { get; init; }

    /// <summary>Reads <see cref="Expires"/>; days begin in UTC.</summary>
    public static bool TryReadTime(string text, out DateTimeOffset time) =>
        DateTimeOffset.TryParse(
            text,
            CultureInfo.InvariantCulture,
            DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal,
            out time
        );
}
