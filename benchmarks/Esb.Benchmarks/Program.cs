using System.Globalization;
using BenchmarkDotNet.Running;
using Esb.Benchmarks;

if (args is ["transport-cost", .. var rest]) await TransportCost.RunAsync(rest is [var rounds] ? int.Parse(rounds, CultureInfo.InvariantCulture) : 3);
else BenchmarkSwitcher.FromAssembly(typeof(TransportCost).Assembly).Run(args);
