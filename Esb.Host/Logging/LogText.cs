using Esb.Core.Audit;
using Esb.Core.Errors;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Host.Logging;

/// <summary>An entry of the log as text, without secrets, and without anything that could write lines of its own.</summary>
internal static class LogText
{
    /// <summary>The level in five letters.</summary>
    public static string LevelOf(LogLevel level) => level switch
    {
        LogLevel.Trace => "trace",
        LogLevel.Debug => "debug",
        LogLevel.Information => "info ",
        LogLevel.Warning => "warn ",
        LogLevel.Error => "error",
        _ => "CRIT ",
    };

    /// <summary>Writes the message and the exception. Whoever logs need not know what is masked in the message that it is about.</summary>
    public static void WriteMessage<TState>(in LogEntry<TState> entry, bool showsStacks, TextWriter writer)
    {
        writer.Write(OneLine(MaskedFlow.Clean(entry.Formatter(entry.State, entry.Exception))));
        if (entry.Exception is { } exception) WriteException(exception, showsStacks, writer);
    }

    // What the bus itself says needs no stack; anything else is a surprise, and then the stack is what helps.
    private static void WriteException(Exception exception, bool showsStacks, TextWriter writer)
    {
        writer.Write(OneLine(MaskedFlow.Clean($": {(exception is EsbException fault ? $"{fault.Code} " : "")}{exception.Message}")));
        if (exception is EsbException && !showsStacks) return;
        foreach (var line in MaskedFlow.Clean(exception.ToString()).Split('\n')) writer.Write($"{Environment.NewLine}    {OneLine(line.TrimEnd())}");
    }

    // Nor may text from outside give commands to a terminal.
    private static string OneLine(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(c => char.IsControl(c) ? ' ' : c)) : text;
}
