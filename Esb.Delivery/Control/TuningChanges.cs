using Esb.Core.Endpoints;
using Esb.Core.Storage;

namespace Esb.Delivery.Control;

/// <summary>Tuned settings whose configured value has changed since they were tuned: the tuned value stays.</summary>
public static class TuningChanges
{
    /// <summary>One line for each.</summary>
    /// <param name="tuned">The tuned settings.</param>
    /// <param name="configuredOf">The configured values of an endpoint; null if it does not exist.</param>
    public static IEnumerable<string> Of(IEnumerable<TunedSetting> tuned, Func<string, EndpointTuning?> configuredOf)
    {
        foreach (var one in tuned)
        {
            if (configuredOf(one.Endpoint) is not { } settings)
                continue;
            var configured = TuningValues.Of(settings).GetValueOrDefault(one.Setting);
            if (configured == one.Configured)
                continue;
            yield return $"endpoint '{one.Endpoint}' keeps {one.Setting} {one.Value}, as {one.By} tuned it; the configuration now "
                + $"says {configured ?? "nothing"}; esb endpoints reset {one.Endpoint} {one.Setting} applies that";
        }
    }

    /// <summary>One line for each, of the endpoints of a configuration.</summary>
    public static IEnumerable<string> Of(IEnumerable<TunedSetting> tuned, EndpointModels endpoints)
    {
        var configured = endpoints
            .Outbound.Select(model => (model.Config.Name, Tuning: EndpointTunings.Of(model.Config)))
            .Concat(endpoints.Inbound.Select(model => (model.Config.Name, Tuning: EndpointTunings.Of(model.Config))))
            .ToDictionary(one => one.Name, one => one.Tuning);
        return Of(tuned, configured.GetValueOrDefault);
    }
}
