using System.Globalization;
using System.Text.Json;
using Esb.Core.Audit;

namespace Esb.Audit.Journeys.Drawing;

/// <summary>Short descriptions of a journey and its parts. External names are not escaped; the caller escapes them for its
/// format.</summary>
internal static class JourneyWords
{
    /// <summary>Describes a fact: its kind and its distinguishing details.</summary>
    public static string Of(AuditFact fact) => string.Join(' ', PartsOf(fact).Where(part => !string.IsNullOrEmpty(part)));

    /// <summary>A name as the API writes it.</summary>
    public static string Of<T>(T value)
        where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());

    /// <summary>A time in a unit that suits it.</summary>
    public static string Of(TimeSpan time) =>
        time switch
        {
            { TotalMilliseconds: < 1_000 } => string.Create(CultureInfo.InvariantCulture, $"{time.TotalMilliseconds:0.#} ms"),
            { TotalSeconds: < 60 } => string.Create(CultureInfo.InvariantCulture, $"{time.TotalSeconds:0.000} s"),
            { TotalMinutes: < 60 } => string.Create(CultureInfo.InvariantCulture, $"{time.Minutes} min {time.Seconds:00} s"),
            { TotalHours: < 24 } => string.Create(CultureInfo.InvariantCulture, $"{time.Hours} h {time.Minutes:00} min"),
            _ => string.Create(CultureInfo.InvariantCulture, $"{time.Days} d {time.Hours:00} h"),
        };

    /// <summary>One line about the whole.</summary>
    public static string Of(Journey journey)
    {
        var hosts = journey.Hosts.Count switch
        {
            0 => "",
            1 => " on 1 host",
            var count => $" on {count} hosts",
        };
        return $"{Of(journey.State)} after {Of(journey.Duration)}: {Of(journey.Working)} of work, {Of(journey.Waiting)} of waiting; "
            + $"{journey.Facts} facts{hosts}";
    }

    private static IEnumerable<string?> PartsOf(AuditFact fact) =>
        fact.Kind switch
        {
            AuditKind.Received when RelayFields.IsRelayed(fact) =>
            [
                "received",
                fact.Fields.GetValueOrDefault(RelayFields.Method),
                fact.Fields.GetValueOrDefault(RelayFields.Path),
            ],
            AuditKind.Published => ["published", fact.Subject],
            AuditKind.Recorded => ["recorded", fact.Name],
            AuditKind.StepEnded => ["step", fact.Step, fact.Name, fact.Code],
            AuditKind.Replayed or AuditKind.Erased =>
            [
                Of(fact.Kind),
                fact.Fields.GetValueOrDefault("operator") is { } by ? $"by {by}" : null,
                fact.Reason is { } reason ? $"({reason})" : null,
            ],
            AuditKind.DeadLettered => ["dead-lettered", fact.Code, fact.Attempt > 0 ? $"after attempt {fact.Attempt}" : null],
            AuditKind.Replied when RelayFields.IsRelayed(fact) => ["replied", fact.Fields.GetValueOrDefault(RelayFields.Status)],
            _ =>
            [
                Of(fact.Kind),
                fact.Code,
                fact.Attempt > 1 || (fact.Attempt == 1 && fact.Kind == AuditKind.Failed) ? $"attempt {fact.Attempt}" : null,
            ],
        };
}
