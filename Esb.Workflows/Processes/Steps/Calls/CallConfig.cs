using Esb.Core.Configuration.Settings;
using Esb.Core.Expressions;

namespace Esb.Workflows.Processes.Steps;

/// <summary>What a call does with the headers of the message.</summary>
internal enum AnswerHeaders
{
    /// <summary>They stay, unless the answer brings the same.</summary>
    Keep,

    /// <summary>The headers of the answer take the place of all of them.</summary>
    Replace,
}

/// <summary>Settings of the step <c>call</c>.</summary>
internal sealed record CallConfig : PooledStepConfig
{
    [Setting("The outbound endpoint to call directly, without a topic.", Main = true, Reference = "endpoints")]
    public required string Endpoint { get; init; }

    [Setting("Which of the endpoint's targets to call, by name; by default the endpoint's own url.")]
    public ValueConfig? Target { get; init; }

    [Setting(
        "HTTP: the path of the request, after the path of the url and in place of the endpoint's path: a text with places for values, "
            + "such as \"/customers/{property.id}\". Each value is one segment, percent-encoded.",
        Name = "path"
    )]
    public string? RequestPath { get; init; }

    [Setting("HTTP: parameters of the query, by name, in place of the endpoint's of the same name; one without a value is left out.")]
    public IReadOnlyDictionary<string, ValueConfig> Query { get; init; } = new Dictionary<string, ValueConfig>();

    [Setting("HTTP: the method, in place of the endpoint's.")]
    public ValueConfig? Method { get; init; }

    [Setting(
        "HTTP: headers of the request, by name, besides those of the message; one without a value is not sent. Or what becomes of "
            + "the message's headers: keep (default), unless the answer brings the same, or replace."
    )]
    public WordOrMap<AnswerHeaders, ValueConfig>? Headers { get; init; }

    [Setting(
        "The statuses that count as success: a status, a class such as \"2xx\", a list of them, or \"any\". By default 2xx.",
        TakesOne = true
    )]
    public IReadOnlyList<StatusPattern> Expect { get; init; } = [];

    [Setting("In a workflow: whether a checkpoint follows the call; without it a crash repeats the call.")]
    public bool Checkpoint { get; init; } = true;
}
