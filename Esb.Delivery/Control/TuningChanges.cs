using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Delivery.Intake.Holds;

namespace Esb.Delivery.Control;

/// <summary>Effects of a configuration on tuned settings. Where its values have changed since they were tuned, the tuned values stay; where
/// it forbids them, they are set aside.</summary>
public static class TuningChanges
{
    /// <summary>One line for each setting that stays although its configured value changed.</summary>
    /// <param name="tuned">The tuned settings.</param>
    /// <param name="configuredOf">The configured values of an endpoint; null if it does not exist.</param>
    /// <param name="faultsOf">Why what is tuned of an endpoint is set aside; empty if it applies.</param>
    public static IEnumerable<string> Kept(
        IEnumerable<TunedSetting> tuned,
        Func<string, EndpointTuning?> configuredOf,
        Func<string, IReadOnlyList<string>> faultsOf
    )
    {
        foreach (var one in tuned)
        {
            if (configuredOf(one.Endpoint) is not { } settings || faultsOf(one.Endpoint).Count > 0)
                continue;
            var configured = TuningValues.Of(settings).GetValueOrDefault(one.Setting);
            if (configured == one.Configured)
                continue;
            yield return $"endpoint '{one.Endpoint}' keeps {one.Setting} {one.Value}, as {one.By} tuned it; the configuration now "
                + $"says {configured ?? "nothing"}; esb endpoints reset {one.Endpoint} {one.Setting} applies that";
        }
    }

    /// <summary>One line for each fault that sets the tuned settings of an endpoint aside.</summary>
    /// <inheritdoc cref="Kept"/>
    public static IEnumerable<string> SetAside(IEnumerable<TunedSetting> tuned, Func<string, IReadOnlyList<string>> faultsOf) =>
        tuned
            .Select(one => one.Endpoint)
            .Distinct()
            .SelectMany(
                faultsOf,
                (endpoint, fault) => $"endpoint '{endpoint}' is not tuned as wanted: {fault}; esb endpoints reset {endpoint} ends this"
            );

    /// <summary>All lines, for the endpoints of a configuration.</summary>
    public static IEnumerable<string> Of(IReadOnlyList<TunedSetting> tuned, EndpointModels endpoints)
    {
        var outbound = endpoints.Outbound.ToDictionary(model => model.Config.Name, model => model.Config);
        var inbound = endpoints.Inbound.ToDictionary(model => model.Config.Name, model => model.Config);
        return SetAside(tuned, FaultsOf).Concat(Kept(tuned, ConfiguredOf, FaultsOf));

        EndpointTuning? ConfiguredOf(string endpoint) =>
            outbound.TryGetValue(endpoint, out var sending) ? EndpointTunings.Of(sending)
            : inbound.TryGetValue(endpoint, out var receiving) ? EndpointTunings.Of(receiving)
            : null;

        IReadOnlyList<string> FaultsOf(string endpoint)
        {
            var wanted = TuningValues.Read(
                tuned.Where(one => one.Endpoint == endpoint).Select(one => KeyValuePair.Create(one.Setting, one.Value))
            );
            return outbound.TryGetValue(endpoint, out var sending) ? EndpointTunings.Check(sending, wanted)
                : inbound.ContainsKey(endpoint) ? InboundControl.Check(wanted)
                : [];
        }
    }
}
