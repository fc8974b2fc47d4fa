using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Configuration;
using Esb.Core.Listening;
using Esb.Endpoints.Http.Tls;

namespace Esb.Host.Management;

/// <summary>Checks the listen address, the certificate and the keys of the management API, and warns if it is open to other
/// machines.</summary>
internal sealed class ManagementRule(ManagementConfig management, TimeProvider time) : IConfigurationRule, IListeningPart
{
    public IEnumerable<ListeningPlace> Places =>
        [new ListeningPlace("the management API", management, "url", management.Url, IsOpened: true)];

    public void Check(ConfigErrors errors)
    {
        if (management.Tls is { } tls)
            TlsListening.Check(tls, time.GetUtcNow(), errors);
        CheckKeys(errors);
        if (ListeningAddress.Parse(management.Url, management, "url", errors) is not { } address || !management.IsSound("tls"))
            return;
        if (address.IsTls && management.Tls is null)
            errors.Add("ESB-CFG-URL", management, "url", "expected http://, or \"tls\" with a certificate");
        if (!address.IsTls && management.Tls is not null)
            errors.Add("ESB-CFG-URL", management, "url", "expected https://, as \"tls\" is given");
        if (!address.IsTls && !address.IsLoopback)
            errors.Warn("ESB-CFG-EXPOSED", management, "url", "the management API can be reached from other machines, without TLS");
    }

    private void CheckKeys(ConfigErrors errors)
    {
        if (management.Keys.Count == 0 || !management.IsSound("keys"))
            return;
        foreach (var entry in management.Keys.Values)
        {
            if (entry.Key.Count == 0 || entry.Key.Any(key => key.Length < ManagementKeyConfig.ShortestKey))
                errors.Add("ESB-CFG-RANGE", entry, "key", $"expected at least {ManagementKeyConfig.ShortestKey} characters each");
            if (entry.Expires is { } expires && !ManagementKeyConfig.TryReadTime(expires, out _))
                errors.Add("ESB-CFG-RANGE", entry, "expires", "expected a day such as 2027-01-01, or a time such as 2027-01-01T12:00:00Z");
        }

        if (management.Keys.Values.SelectMany(entry => entry.Key).GroupBy(key => key, StringComparer.Ordinal).Any(same => same.Count() > 1))
            errors.Add("ESB-CFG-DUPNAME", management, "keys", "expected each key once: its owner could not be told otherwise");
        if (management.Keys.Values.All(entry => entry.Role != ManagementRole.Administrator))
            errors.Add(
                "ESB-CFG-REQUIRED",
                management,
                "keys",
                "expected one with the role administrator: otherwise no key could change the configuration"
            );
    }
}
