using Esb.Core.Configuration.Settings;
using Esb.Core.Processes;
using Esb.Core.Topics;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Steps that another step is made of, such as the call of an <c>enrich</c>.</summary>
internal static class InnerSteps
{
    /// <summary>A step within another.</summary>
    /// <param name="kind">The step's name.</param>
    /// <param name="settings">Its settings.</param>
    /// <param name="outer">The step that contains it.</param>
    /// <param name="path">Its path.</param>
    /// <param name="name">Distinguishes it from its siblings in the id.</param>
    public static StepConfig Of(string kind, SettingsRecord settings, StepConfig outer, string path, string name) =>
        new()
        {
            Kind = kind,
            Settings = settings,
            Path = path,
            Origin = outer.Origin,
            Id = outer.Id is { } id ? $"{id}.{name}" : null,
        };

    /// <summary>A call of an endpoint, within another step.</summary>
    public static StepConfig Call(string endpoint, StepConfig outer, string path) =>
        Of(
            "call",
            new CallConfig
            {
                Endpoint = endpoint,
                Path = path,
                Origin = outer.Origin,
            },
            outer,
            path,
            endpoint
        );

    /// <summary>A request, within another step.</summary>
    public static StepConfig Request(Subject subject, TimeSpan timeout, StepConfig outer, string path) =>
        Of(
            "request",
            new RequestConfig
            {
                Subject = subject,
                Timeout = timeout,
                Path = path,
                Origin = outer.Origin,
            },
            outer,
            path,
            subject.Value
        );
}
