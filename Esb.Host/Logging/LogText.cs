using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Logging;

/// <summary>Formats a log entry as text, without secrets and without content that could forge further lines.</summary>
internal static class LogText
{
    /// <summary>The level in five characters.</summary>
    public static string LevelOf(LogLevel level) =>
        level switch
        {
            LogLevel.Trace => "trace",
            LogLevel.Debug => "debug",
            LogLevel.Information => "info ",
            LogLevel.Warning => "warn ",
            LogLevel.Error => "error",
            _ => "CRIT ",
        };

    /// <summary>Writes the message and the exception. Masks the secrets of the current message, so callers need not know them.</summary>
    public static void WriteMessage<TState>(in LogEntry<TState> entry, bool showsStacks, TextWriter writer)
    {
        writer.Write(OneLine(MaskedFlow.Clean(entry.Formatter(entry.State, entry.Exception))));
        if (entry.Exception is { } exception)
            WriteException(exception, showsStacks, writer);
    }

    // Errors of the bus itself are shown without a stack trace; any other exception is unexpected, so its stack trace helps.
    private static void WriteException(Exception exception, bool showsStacks, TextWriter writer)
    {
        writer.Write(OneLine(MaskedFlow.Clean($": {(exception is EsbException fault ? $"{fault.Code} " : "")}{exception.Message}")));
        if (exception is EsbException && !showsStacks)
            return;
        foreach (var line in MaskedFlow.Clean(exception.ToString()).Split('\n'))
            writer.Write($"{Environment.NewLine}    {OneLine(line.TrimEnd())}");
    }

    // External text must not send control sequences to a terminal.
    private static string OneLine(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(c => char.IsControl(c) ? ' ' : c)) : text;
}
