using Dapper;
using Esb.Core.Storage;

namespace Esb.Storage.Postgres.DeadLetters;

/// <summary>Which dead letters, as SQL.</summary>
internal sealed class PostgresLetterFilter
{
    private readonly List<string> _conditions = [];

    public PostgresLetterFilter(DeadLetterFilter filter)
    {
        if (filter.Ids is not null) Add("id = any(@ids)", "ids", filter.Ids.ToArray());
        if (filter.State is not null) Add("state = @state", "state", filter.State.ToString());
        if (filter.Endpoint is not null) Add("endpoint = @endpoint", "endpoint", PostgresText.Clean(filter.Endpoint));
        if (filter.Code is not null) Add("code = @code", "code", PostgresText.Clean(filter.Code));
        if (filter.Key is not null) Add("left(key, 256) = left(@key, 256) and key = @key", "key", PostgresText.Clean(filter.Key)); // as indexed
        if (filter.MessageId is not null) Add("message_id = @messageId", "messageId", filter.MessageId);
        if (filter.Job is not null) Add("job = @filterJob", "filterJob", filter.Job);
        if (filter.From is not null) Add("last_attempt >= @from", "from", filter.From.Value.UtcDateTime);
        if (filter.To is not null) Add("last_attempt < @to", "to", filter.To.Value.UtcDateTime);
        if (filter.Text is not null) Add("position(lower(@text) in lower(reason)) > 0", "text", PostgresText.Clean(filter.Text));
        if (filter.Subject is not null) AddSubject(PostgresText.Clean(filter.Subject));
    }

    public DynamicParameters Parameters { get; } = new();

    /// <summary>A condition; empty where every letter will do.</summary>
    public string Where => _conditions.Count == 0 ? "" : $"where {string.Join(" and ", _conditions)}";

    public PostgresLetterFilter And(string condition)
    {
        _conditions.Add(condition);
        return this;
    }

    public PostgresLetterFilter And(string condition, string parameter, object? value)
    {
        Add(condition, parameter, value);
        return this;
    }

    private void AddSubject(string subject)
    {
        if (subject.EndsWith(".#", StringComparison.Ordinal)) Add("(subject = @subject or starts_with(subject, @subject || '.'))", "subject", subject[..^2]);
        else Add("subject = @subject", "subject", subject);
    }

    private void Add(string condition, string parameter, object? value)
    {
        _conditions.Add(condition);
        Parameters.Add(parameter, value);
    }
}
