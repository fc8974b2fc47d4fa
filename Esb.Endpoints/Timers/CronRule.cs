using Cronos;
using Esb.Core.Configuration.Settings;

namespace Esb.Endpoints.Timers;

/// <summary>A cron expression of five fields, or of six with seconds first, as Cronos reads it. Immutable and thread-safe.</summary>
/// <param name="Text">The expression as written.</param>
/// <param name="Expression">The parsed expression; it falls due at least once.</param>
public sealed record CronRule(string Text, CronExpression Expression) : ITextSetting<CronRule>
{
    private const int FieldsWithSeconds = 6;

    /// <inheritdoc/>
    public static string Code => "ESB-CFG-CRON";

    /// <inheritdoc/>
    public static string Expected =>
        "expected five fields (minute, hour, day, month, day of the week) or six (seconds first) of a time that comes, such as \"0 "
        + "2 * * mon-fri\"";

    (string Section, string Name)? ITextSetting<CronRule>.Reference => null;

    /// <inheritdoc/>
    public static CronRule? Parse(string text)
    {
        var fields = text.Split([' ', '\t'], StringSplitOptions.RemoveEmptyEntries).Length;
        if (fields is not (FieldsWithSeconds or FieldsWithSeconds - 1))
            return null; // also words such as @daily
        var format = fields == FieldsWithSeconds ? CronFormat.IncludeSeconds : CronFormat.Standard;
        return CronExpression.TryParse(text, format, out var expression) && expression.GetNextOccurrence(DateTime.UnixEpoch) is not null
            ? new CronRule(text, expression)
            : null;
    }
}
