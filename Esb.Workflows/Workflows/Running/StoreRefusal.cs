using System.Data.Common;
using Esb.Core.Errors;

namespace Esb.Workflows.Workflows.Running;

/// <summary>Tells what a store cannot write, which concerns one item of a group, from a store that is away.</summary>
internal static class StoreRefusal
{
    public static bool Is(EsbException failure) => failure.InnerException is DbException { IsTransient: false };
}
