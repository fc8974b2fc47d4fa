using Esb.Core.Audit;

namespace Esb.Host.Management.Messages;

/// <summary>The parameters of a message search.</summary>
internal static class MessageParameters
{
    public const int MaxLimit = 1_000;
    public const int DefaultLimit = 100;

    public const string Trace = "expected 32 hexadecimal digits in lower case";

    /// <summary>Reads the query of a request.</summary>
    public static AuditQuery Read(QueryReader query)
    {
        query.Allow("id", "where", "endpoint", "process", "kind", "failed", "party", "trace", "from", "to", "after", "before", "limit");
        var kind = query.Choice<AuditKind>("kind");
        var failed = query.Flag("failed");
        if (kind is not null && failed)
            throw Problems.Parameter("failed", "expected without kind: that one says what happened already");
        var asked = new AuditQuery
        {
            MessageId = query.Id("id"),
            Where = query.Pairs("where"),
            Endpoint = query.Text("endpoint"),
            Process = query.Text("process"),
            Kind = kind,
            OnlyFailures = failed,
            Party = query.Text("party"),
            TraceId = query.Text("trace"),
            From = query.Time("from"),
            To = query.Time("to"),
            Before = query.PositionId(),
            Limit = query.PageSize(),
            WithBodies = false,
        };
        return Checked(asked);
    }

    /// <summary>Validates the query; throws if it cannot match anything.</summary>
    public static AuditQuery Checked(AuditQuery query)
    {
        if (query.From >= query.To)
            throw Problems.Parameter("to", "expected later than from");
        return query.TraceId is null || IsTrace(query.TraceId) ? query : throw Problems.Parameter("trace", Trace);
    }

    public static bool IsTrace(string text) => text.Length == 32 && text.All(char.IsAsciiHexDigitLower);

    /// <summary>The same query as request parameters.</summary>
    public static string Write(AuditQuery query)
    {
        var parameters = query
            .Where.Select(field => ("where", (string?)$"{field.Key}={field.Value}"))
            .Concat([
                ("id", query.MessageId?.ToString()),
                ("endpoint", query.Endpoint),
                ("process", query.Process),
                ("kind", query.Kind is { } kind ? Commands.CommandJson.NameOf(kind) : null),
                ("failed", query.OnlyFailures ? "true" : null),
                ("party", query.Party),
                ("trace", query.TraceId),
                ("from", query.From?.ToString("O")),
                ("to", query.To?.ToString("O")),
                ("before", query.Before?.ToString()),
                ("limit", FormattableString.Invariant($"{query.Limit}")),
            ]);
        return string.Join(
            '&',
            parameters
                .Where(parameter => parameter.Item2 is not null)
                .Select(parameter => $"{parameter.Item1}={Uri.EscapeDataString(parameter.Item2!)}")
        );
    }
}
