using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Configuration.Settings;
using Esb.Core.Endpoints;
using Esb.Core.Storage;
using Esb.Core.Topics;
using Esb.Core.Workflows;
using Esb.Delivery.Control;

namespace Esb.Host.Reloading;

/// <summary>The differences between the running revision and another one.</summary>
internal sealed class RevisionChanges(
    BusModel before,
    BusModel after,
    IEnumerable<ConfigSection> sections,
    IEnumerable<FixedSettings> settings,
    IReadOnlyList<TunedSetting>? tuned = null
)
{
    private readonly List<ConfigSection> _sections = [.. sections];

    /// <summary>Whether anything is.</summary>
    public bool Any => before.Revision != after.Revision || _sections.Any(section => IsChanged(section.Name));

    /// <summary>Reports changes that are not possible at run time.</summary>
    /// <param name="errors">Receives every error.</param>
    /// <param name="mayMigrate">True if waiting messages outlive the hosts, so that they can be moved.</param>
    /// <param name="migrates">True if waiting messages will be moved.</param>
    public void Refuse(ConfigErrors errors, bool mayMigrate, bool migrates)
    {
        var paths = _sections
            .Where(section => section.NeedsRestart)
            .Select(section => section.Name)
            .Concat(settings.SelectMany(one => one.Settings, (one, setting) => $"{one.Section}.{setting}"));
        foreach (var path in paths.Where(IsChanged))
            errors.Add("ESB-CONFIG-RESTART", path, "cannot change while the bus runs: restart its hosts with it");
        if (mayMigrate && migrates)
            return;
        var advice = mayMigrate
            ? "needs other queues: esb reload --migrate makes them, and moves what waits"
            : "needs another queue, which a topic in memory does not get while the bus runs: restart the host with it";
        foreach (var (name, old, changed) in Kept())
            RefuseMigration(name, old.Config, changed.Config, advice, errors);
    }

    /// <summary>The subscriptions of the removed endpoints.</summary>
    public IEnumerable<Subscription> Removed
    {
        get
        {
            var names = Of(after).Keys;
            var kept = after.Find<WorkflowSubscriptions>()?.All.Select(subscription => subscription.Endpoint).ToHashSet() ?? [];
            return before
                .Get<EndpointModels>()
                .Outbound.Select(model => model.Config)
                .Where(endpoint => endpoint.HasQueue && !names.Contains(endpoint.Name))
                .Select(Subscription.Of)
                .Concat(before.Find<WorkflowSubscriptions>()?.All.Where(subscription => !kept.Contains(subscription.Endpoint)) ?? []);
        }
    }

    /// <summary>The names of the endpoints that are new, or have other settings.</summary>
    public IEnumerable<string> Changed
    {
        get
        {
            var old = Of(before);
            return Of(after).Where(one => !old.TryGetValue(one.Key, out var was) || was.Whole != one.Value.Whole).Select(one => one.Key);
        }
    }

    /// <summary>The description of each change, one line each.</summary>
    public IReadOnlyList<string> Lines
    {
        get
        {
            var (old, changed) = (Of(before), Of(after));
            return
            [
                .. changed.Keys.Except(old.Keys).Select(name => $"start endpoint {name}"),
                .. changed
                    .Where(one => old.TryGetValue(one.Key, out var was) && was.Whole != one.Value.Whole)
                    .Select(one => Describe(one.Key, old[one.Key], one.Value)),
                .. old.Keys.Except(changed.Keys).Select(name => $"remove endpoint {name}; what waits stays in its queue"),
                .. HasOtherFiles ? ["exchange maps or schemas whose files changed"] : Enumerable.Empty<string>(),
                .. _sections
                    .Where(section => section.Name != "endpoints" && IsChanged(section.Name))
                    .Select(section => $"exchange {section.Name}"),
                .. TuningChanges.Of(tuned ?? [], after.Get<EndpointModels>()),
            ];
        }
    }

    private bool HasOtherFiles => before.Revision != after.Revision && before.Configuration.WrittenHash == after.Configuration.WrittenHash;

    private static string Describe(string name, (string Whole, string Instances) was, (string Whole, string Instances) becomes) =>
        was.Instances == becomes.Instances
            ? $"exchange settings of endpoint {name}; its instances stay"
            : $"replace endpoint {name} after what is under way";

    private static Dictionary<string, (string Whole, string Instances)> Of(BusModel model)
    {
        var endpoints = model.Get<EndpointModels>();
        return endpoints
            .Inbound.Select(one => (one.Config.Name, (Fingerprint.Of(one.Config), one.Fingerprint)))
            .Concat(endpoints.Outbound.Select(one => (one.Config.Name, (one.Fingerprint, one.AdapterFingerprint))))
            .ToDictionary(one => one.Name, one => one.Item2);
    }

    private static void RefuseMigration(
        string name,
        OutboundEndpointConfig old,
        OutboundEndpointConfig changed,
        string advice,
        ConfigErrors errors
    )
    {
        if (!old.HasQueue || !changed.HasQueue)
            return;
        foreach (
            var (setting, isSame) in new[]
            {
                ("delivery", old.Delivery == changed.Delivery),
                ("lanes", old.Lanes == changed.Lanes || changed.Delivery != DeliveryMode.OrderedByKey),
                ("queue", Fingerprint.Of(old.Queue) == Fingerprint.Of(changed.Queue)),
            }
        )
        {
            if (!isSame)
                errors.Add("ESB-CONFIG-MIGRATION", $"endpoints.{name}.{setting}", advice, changed.Origin);
        }
    }

    private IEnumerable<(string Name, OutboundModel Old, OutboundModel Changed)> Kept()
    {
        var old = before.Get<EndpointModels>().Outbound.ToDictionary(model => model.Config.Name);
        return after
            .Get<EndpointModels>()
            .Outbound.Where(model => old.ContainsKey(model.Config.Name))
            .Select(model => (model.Config.Name, old[model.Config.Name], model));
    }

    private bool IsChanged(string path) => before.Configuration.FingerprintAt(path) != after.Configuration.FingerprintAt(path);
}
