using Esb.Core.Storage;

namespace Esb.Storage.Sql.DeadLetters;

/// <summary>Which dead letters, as SQL.</summary>
internal sealed class LetterFilter
{
    // As much of a key as is indexed.
    private const int IndexedCharacters = 256;

    private readonly SqlDialect _dialect;
    private readonly List<string> _conditions = [];
    private readonly List<(string Name, object? Value)> _parameters = [];

    public LetterFilter(DeadLetterFilter filter, SqlDialect dialect)
    {
        _dialect = dialect;
        if (filter.Ids is not null)
            And(dialect.IsOneOf("id", "ids"), "ids", filter.Ids.ToArray());
        if (filter.State is not null)
            And("state = @state", "state", filter.State);
        if (filter.Endpoint is not null)
            And("endpoint = @endpoint", "endpoint", filter.Endpoint);
        if (filter.Code is not null)
            And("code = @code", "code", filter.Code);
        if (filter.Key is not null)
            And($"{Beginning("key")} = {Beginning("@key")} and key = @key", "key", filter.Key);
        if (filter.MessageId is not null)
            And("message_id = @messageId", "messageId", filter.MessageId);
        if (filter.Job is not null)
            And("job = @filterJob", "filterJob", filter.Job);
        if (filter.From is not null)
            And("last_attempt >= @from", "from", filter.From);
        if (filter.To is not null)
            And("last_attempt < @to", "to", filter.To);
        if (filter.Text is not null)
            And("strpos(lower(reason), lower(@text)) > 0", "text", filter.Text);
        if (filter.Subject is not null)
            AddSubject(filter.Subject);
    }

    public IReadOnlyList<(string Name, object? Value)> Parameters => _parameters;

    /// <summary>A condition; empty where every letter will do.</summary>
    public string Where => _conditions.Count == 0 ? "" : $"where {string.Join(" and ", _conditions)}";

    public LetterFilter And(string condition)
    {
        _conditions.Add(condition);
        return this;
    }

    public LetterFilter And(string condition, string parameter, object? value)
    {
        _conditions.Add(condition);
        _parameters.Add((parameter, value));
        return this;
    }

    /// <summary>The parameters, and others.</summary>
    public (string Name, object? Value)[] With(params (string Name, object? Value)[] others) => [.. _parameters, .. others];

    private void AddSubject(string subject)
    {
        if (subject.EndsWith(".#", StringComparison.Ordinal))
            And("(subject = @subject or substr(subject, 1, length(@subject) + 1) = @subject || '.')", "subject", subject[..^2]);
        else
            And("subject = @subject", "subject", subject);
    }

    private string Beginning(string text) => _dialect.Left(text, IndexedCharacters);
}
