using System.Globalization;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Logging.Console;
using Microsoft.Extensions.Options;

namespace Esb.Host.Logging;

/// <summary>Writes an entry of the log on one line that people like to read: <c>07:30:12.345 info  endpoints  shop listens at …</c>.</summary>
internal sealed class EsbConsoleFormatter(IOptions<EsbConsoleFormatterOptions> options) : ConsoleFormatter(FormatterName)
{
    public const string FormatterName = "esb";

    private const string Grey = "\e[90m";
    private const string Reset = "\e[0m";

    private readonly EsbConsoleFormatterOptions _options = options.Value;

    // Whoever writes a line need not know what is masked in the message that it is about.
    public override void Write<TState>(in LogEntry<TState> logEntry, IExternalScopeProvider? scopeProvider, TextWriter textWriter)
    {
        var time = _options.Time.GetLocalNow().ToString("HH:mm:ss.fff", CultureInfo.InvariantCulture);
        var (level, color) = LevelOf(logEntry.LogLevel);
        var category = LogCategory.Shorten(logEntry.Category).PadRight(9);
        textWriter.Write(_options.Colored ? $"{Grey}{time}{Reset} {color}{level}{Reset} {Grey}{category}{Reset} " : $"{time} {level} {category} ");
        textWriter.Write(OneLine(MaskedFlow.Clean(logEntry.Formatter(logEntry.State, logEntry.Exception))));
        if (logEntry.Exception is { } exception) WriteException(exception, textWriter);
        textWriter.WriteLine();
    }

    // What the bus itself says needs no stack; anything else is a surprise, and then the stack is what helps.
    private void WriteException(Exception exception, TextWriter writer)
    {
        writer.Write(OneLine(MaskedFlow.Clean($": {(exception is EsbException fault ? $"{fault.Code} " : "")}{exception.Message}")));
        if (exception is EsbException && !_options.ShowsStacks) return;
        foreach (var line in MaskedFlow.Clean(exception.ToString()).Split('\n')) writer.Write($"{Environment.NewLine}    {OneLine(line.TrimEnd())}");
    }

    private static (string Text, string Color) LevelOf(LogLevel level) => level switch
    {
        LogLevel.Trace => ("trace", Grey),
        LogLevel.Debug => ("debug", Grey),
        LogLevel.Information => ("info ", "\e[32m"),
        LogLevel.Warning => ("warn ", "\e[33m"),
        LogLevel.Error => ("error", "\e[31m"),
        _ => ("CRIT ", "\e[97;41m"),
    };

    // Text from outside must not be able to write lines, or commands to a terminal, into the log.
    private static string OneLine(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(c => char.IsControl(c) ? ' ' : c)) : text;
}

/// <summary>How the log is written.</summary>
internal sealed class EsbConsoleFormatterOptions : ConsoleFormatterOptions
{
    public bool Colored { get; set; }

    public bool ShowsStacks { get; set; }

    public TimeProvider Time { get; set; } = TimeProvider.System;
}
