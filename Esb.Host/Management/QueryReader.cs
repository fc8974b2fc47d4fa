using System.Globalization;
using Esb.Configuration;
using Esb.Core.Errors;

namespace Esb.Host.Management;

/// <summary>Reads the parameters of a request; unknown or out-of-range parameters are refused, never ignored.</summary>
internal sealed class QueryReader(IQueryCollection query)
{
    /// <exception cref="EsbException"><c>ESB-API-UNKNOWN</c>: the request has another parameter.</exception>
    public QueryReader Allow(params string[] names)
    {
        if (query.Keys.FirstOrDefault(key => !names.Contains(key)) is not { } unknown)
            return this;
        throw new EsbException(
            "ESB-API-UNKNOWN",
            $"There is no parameter '{Clip(unknown)}'; there are {string.Join(", ", names)}{NearestName.Hint(unknown, names)}",
            FaultKind.Malformed
        );
    }

    public string? Text(string name) =>
        query[name] switch
        {
            { Count: 0 } => null,
            { Count: 1 } values => values[0],
            _ => throw Problems.Parameter(name, "expected once"),
        };

    /// <summary>The position behind which a page begins: <c>after</c>, or <c>before</c> as earlier versions call it.</summary>
    public string? Position() =>
        Text("after") is { } after
            ? query.ContainsKey("before")
                ? throw Problems.Parameter("after", "expected without before, which means the same")
                : after
            : Text("before");

    /// <summary>A position that is an id.</summary>
    public Guid? PositionId() =>
        Position() is not { } text ? null
        : Guid.TryParse(text, out var id) ? id
        : throw Problems.Parameter(query.ContainsKey("after") ? "after" : "before", "expected a UUID");

    /// <summary>The number of items of a page: <c>limit</c>, from 1 to 1,000, 50 if absent.</summary>
    public int PageSize() => Integer("limit", 1, 1_000, otherwise: 50);

    public int Integer(string name, int minimum, int maximum, int otherwise)
    {
        if (Text(name) is not { } text)
            return otherwise;
        return int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number >= minimum && number <= maximum
            ? number
            : throw Problems.Parameter(name, $"expected a number from {minimum} to {maximum}");
    }

    /// <summary>A number of up to 18 digits; 0 if absent.</summary>
    public long Number(string name)
    {
        if (Text(name) is not { } text)
            return 0;
        return text.Length <= 18 && long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw Problems.Parameter(name, "expected a number");
    }

    public DateTimeOffset? Time(string name)
    {
        if (Text(name) is not { } text)
            return null;
        return UniversalTime.TryParse(text) ?? throw Problems.Parameter(name, UniversalTime.Expected);
    }

    public Guid? Id(string name)
    {
        if (Text(name) is not { } text)
            return null;
        return Guid.TryParse(text, out var id) ? id : throw Problems.Parameter(name, "expected a UUID");
    }

    public bool Flag(string name) =>
        Text(name) switch
        {
            null or "false" => false,
            "true" => true,
            _ => throw Problems.Parameter(name, "expected true or false"),
        };

    public T? Choice<T>(string name)
        where T : struct, Enum
    {
        if (Text(name) is not { } text)
            return null;
        var names = Enum.GetNames<T>().ToDictionary(System.Text.Json.JsonNamingPolicy.KebabCaseLower.ConvertName);
        return names.TryGetValue(text, out var member)
            ? Enum.Parse<T>(member)
            : throw Problems.Parameter(name, $"expected one of {string.Join(", ", names.Keys)}{NearestName.Hint(text, names.Keys)}");
    }

    /// <summary>A repeatable parameter, each value in the form <c>name=value</c>.</summary>
    public IReadOnlyDictionary<string, string> Pairs(string name)
    {
        var pairs = new Dictionary<string, string>();
        foreach (var pair in query[name])
        {
            if (pair?.Split('=', 2) is not [{ Length: > 0 } key, var value] || !pairs.TryAdd(key, value))
                throw Problems.Parameter(name, "expected NAME=VALUE, and each name once");
        }

        return pairs;
    }

    private static string Clip(string text) => text.Length <= 40 ? text : text[..40] + "…";
}
