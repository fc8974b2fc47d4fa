using System.Globalization;
using SideBySide.Measuring;

namespace SideBySide.Reports;

/// <summary>Numbers as people read them, the same on every machine.</summary>
internal static class Figures
{
    public static string Rate(double? perSecond) =>
        perSecond is { } rate ? string.Create(CultureInfo.InvariantCulture, $"{rate:#,0}/s") : "";

    public static string Microseconds(double? value) =>
        value is { } microseconds ? string.Create(CultureInfo.InvariantCulture, $"{microseconds:0.#} µs") : "";

    public static string Bytes(double? value) =>
        value switch
        {
            null => "",
            < 1_000 and { } bytes => string.Create(CultureInfo.InvariantCulture, $"{bytes:0} B"),
            < 1_024_000 and { } bytes => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1_024:0.#} KB"),
            { } bytes => string.Create(CultureInfo.InvariantCulture, $"{bytes / 1_048_576:0.#} MB"),
        };

    /// <summary>The value that a goal is about: a ratio, a rate, or bytes where the row has no peer.</summary>
    public static string Value(RowResult row) =>
        row.Value switch
        {
            { } rate when row.IsRate => string.Create(CultureInfo.InvariantCulture, $"{Median(row)} ({rate.Low:#,0} to {rate.High:#,0})"),
            { } ratio when row.Peer.Length > 0 => string.Create(
                CultureInfo.InvariantCulture,
                $"{Median(row)} ({ratio.Low:0.00} to {ratio.High:0.00})"
            ),
            _ => Median(row),
        };

    /// <summary>Its median alone; empty where there is none.</summary>
    public static string Median(RowResult row) =>
        row.Value switch
        {
            null => "",
            { } rate when row.IsRate => Rate(rate.Median),
            { } bytes when row.Peer.Length == 0 => Bytes(bytes.Median),
            { } ratio => ratio.Median.ToString("0.00", CultureInfo.InvariantCulture),
        };

    public static string Outcome(RowResult row) =>
        row switch
        {
            { Flaw: { } flaw } => flaw,
            { Met: true } => "met",
            { Met: false } => "missed",
            _ => "",
        };
}
