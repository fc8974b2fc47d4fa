using Esb.Core;
using Esb.Core.Configuration;

namespace Esb.Host.Management;

internal sealed class ManagementCheck(EsbConfiguration configuration) : IConfigurationCheck
{
    public void Check(ConfigErrors errors)
    {
        var management = configuration.Section<ManagementConfig>("management");
        ManagementAddress.Parse(management.Url, errors, management.Origin);
    }
}
