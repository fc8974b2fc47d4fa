using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Esb.Host.Logging;

/// <summary>Writes a log entry as one readable line: <c>2026-01-31 07:30:12.345+01:00 info  endpoints shop listens at …</c>; or
/// as one JSON object.</summary>
internal sealed class EsbConsoleFormatter(IOptions<EsbConsoleFormatterOptions> options) : ConsoleFormatter(FormatterName)
{
    public const string FormatterName = "esb";

    private const string Grey = "\e[90m";
    private const string Reset = "\e[0m";

    private readonly EsbConsoleFormatterOptions _options = options.Value;

    public override void Write<TState>(in LogEntry<TState> logEntry, IExternalScopeProvider? scopeProvider, TextWriter textWriter)
    {
        if (_options.Journal)
        {
            using var lines = new StringWriter();
            WriteEntry(logEntry, lines);
            textWriter.WriteLine(JournalLines.Prefixed(JournalLines.PrefixOf(logEntry.LogLevel), lines.ToString()));
            return;
        }

        WriteEntry(logEntry, textWriter);
    }

    private void WriteEntry<TState>(in LogEntry<TState> logEntry, TextWriter textWriter)
    {
        if (_options.Json)
        {
            LogJson.Write(logEntry, _options.Time.GetLocalNow(), textWriter);
            return;
        }

        var time = _options.Time.GetLocalNow().ToString("yyyy-MM-dd HH:mm:ss.fffzzz", CultureInfo.InvariantCulture);
        var level = LogText.LevelOf(logEntry.LogLevel);
        var category = LogCategory.Shorten(logEntry.Category).PadRight(9);
        textWriter.Write(
            _options.Colored
                ? $"{Grey}{time}{Reset} {ColorOf(logEntry.LogLevel)}{level}{Reset} {Grey}{category}{Reset} "
                : $"{time} {level} {category} "
        );
        LogText.WriteMessage(logEntry, _options.ShowsStacks, textWriter);
        textWriter.WriteLine();
    }

    private static string ColorOf(LogLevel level) =>
        level switch
        {
            LogLevel.Trace or LogLevel.Debug => Grey,
            LogLevel.Information => "\e[32m",
            LogLevel.Warning => "\e[33m",
            LogLevel.Error => "\e[31m",
            _ => "\e[97;41m",
        };
}

/// <summary>Options of the console log format.</summary>
internal sealed class EsbConsoleFormatterOptions : ConsoleFormatterOptions
{
    public bool Colored { get; set; }

    public bool ShowsStacks { get; set; }

    /// <summary>True for one JSON object a line.</summary>
    public bool Json { get; set; }

    /// <summary>True if the output leads to the systemd journal: each line begins with its priority.</summary>
    public bool Journal { get; set; }

    public TimeProvider Time { get; set; } = TimeProvider.System;
}
