using Esb.Core.Configuration.Settings;
using Esb.Endpoints.Http.Tls;

namespace Esb.Host.Management;

/// <summary>The section <c>management</c>.</summary>
internal sealed record ManagementConfig : SettingsRecord
{
    public const string DefaultUrl = "http://127.0.0.1:8081";

    [Setting("Where the management API listens; by default on this machine only.")]
    public string Url { get; init; } = DefaultUrl;

    [Setting("When the configuration is read again: on request, by esb reload or SIGHUP, or also when its files have changed.")]
    public ReloadMode Reload { get; init; }

    [Setting("Where the configuration is: in files of each host, or as versions in the store, which esb apply and esb rollback change.")]
    public ConfigurationPlace Configuration { get; init; }

    [Setting("The management API speaks TLS, as a listener does.")]
    public ListenerTlsConfig? Tls { get; init; }

    [Setting("Further names under which browsers reach the management API, such as a proxy's; a page under another name is refused.")]
    public IReadOnlyList<string> Hosts { get; init; } = [];

    [Setting("Keys of people and programs, with their roles; without them the first start makes one key for all.", NamesThings = true)]
    public IReadOnlyDictionary<string, ManagementKeyConfig> Keys { get; init; } = new Dictionary<string, ManagementKeyConfig>();
}

/// <summary>The events that reload a configuration.</summary>
internal enum ReloadMode
{
    /// <summary>On command.</summary>
    Manual,

    /// <summary>On command, and when its files change.</summary>
    Watch,
}

/// <summary>The place of the configuration that hosts run.</summary>
internal enum ConfigurationPlace
{
    /// <summary>Files of each host.</summary>
    Files,

    /// <summary>Versions in the store. The files of a host hold the sections that it needs to reach the store.</summary>
    Store,
}
