using System.Globalization;
using System.Text.Json;
using Esb.Core.Storage;
using Esb.Storage.Sql;
using Microsoft.Extensions.Logging;

namespace Esb.Storage.TakeOver;

/// <summary>Failed attempts and marks: of each message at an endpoint a file, which is named after both.</summary>
internal sealed partial class EarlierAttempts(string path, SqlDatabase database, int batch, ILogger logger)
    : EarlierPart(path, database, batch)
{
    private const int IdCharacters = 32;

    private const string KeepAttempts = """
        insert into attempt (endpoint, message_id, marks, marked_at, attempts, failures, due_at) values (@endpoint, @message, 0, @at,
          @attempts, @failures, @dueAt)
        on conflict (endpoint, message_id) do update set attempts = excluded.attempts, failures = excluded.failures, due_at =
          excluded.due_at
        """;

    private const string KeepMarks = """
        insert into attempt (endpoint, message_id, marks, marked_at) values (@endpoint, @message, @marks, @at)
        on conflict (endpoint, message_id) do update set marks = excluded.marks
        """;

    public override Task TakeAsync(Action<long> told, CancellationToken cancellationToken) =>
        KeepAsync(Directory.EnumerateFiles(Path).Order(StringComparer.Ordinal), KeepAsync, told, cancellationToken);

    private async Task KeepAsync(SqlSession session, string file)
    {
        var name = System.IO.Path.GetFileNameWithoutExtension(file);
        var kind = System.IO.Path.GetExtension(file);
        if (kind is not (".attempts" or ".mark") || name.Length <= IdCharacters + 1)
            return; // the lock, or unfinished
        if (!Guid.TryParseExact(name[^IdCharacters..], "N", out var message))
            return;
        var endpoint = name[..^(IdCharacters + 1)];
        var at = new DateTimeOffset(File.GetLastWriteTimeUtc(file));
        try
        {
            var text = File.ReadAllText(file); // within a change of the database nothing else may be waited for
            if (kind == ".mark")
                await KeepAsync(session, endpoint, message, at, int.Parse(text, CultureInfo.InvariantCulture));
            else
                await KeepAsync(session, endpoint, message, at, JsonSerializer.Deserialize(text, StorageJson.Default.KeptAttempts)!);
        }
        catch (Exception ex) when (ex is JsonException or FormatException)
        {
            LogUnreadable(ex, file);
        }
    }

    private static Task KeepAsync(SqlSession session, string endpoint, Guid message, DateTimeOffset at, int marks) =>
        session.ExecuteAsync(KeepMarks, ("endpoint", endpoint), ("message", message), ("at", at), ("marks", marks));

    private static Task KeepAsync(SqlSession session, string endpoint, Guid message, DateTimeOffset at, KeptAttempts attempts) =>
        session.ExecuteAsync(
            KeepAttempts,
            ("endpoint", endpoint),
            ("message", message),
            ("at", at),
            ("attempts", attempts.Count),
            ("failures", new SqlJson(StoredJson.Of(attempts.Failures))),
            ("dueAt", attempts.DueAt)
        );

    [LoggerMessage(EventId = 4591, Level = LogLevel.Error, Message = "{File} cannot be read and is left out")]
    private partial void LogUnreadable(Exception exception, string file);
}
