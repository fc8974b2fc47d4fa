using System.Globalization;
using BenchmarkDotNet.Running;
using Esb.Benchmarks;

if (args is ["transport-cost", .. var rest])
    await TransportCost.RunAsync(rest is [var rounds] ? int.Parse(rounds, CultureInfo.InvariantCulture) : 3);
else if (args is ["spool-cost", .. var ofSpool])
    await SpoolCost.RunAsync(
        ofSpool is [var times, ..] ? int.Parse(times, CultureInfo.InvariantCulture) : 3,
        ofSpool is [_, var folder] ? folder : Path.GetTempPath()
    );
else if (args is ["content-cost", .. var ofContent])
    ContentCost.Run(ofContent is [var seconds] ? double.Parse(seconds, CultureInfo.InvariantCulture) : 3);
else if (args is ["engine-rate", var connection, .. var ofEngine])
    await EngineRate.RunAsync(
        connection,
        ofEngine is [var time, ..] ? double.Parse(time, CultureInfo.InvariantCulture) : 10,
        ofEngine is [_, var workflow] ? workflow : EngineRate.Short
    );
else if (args is ["statement-cost", var database, .. var ofStatements])
    await StatementCost.RunAsync(database, ofStatements is [var each] ? double.Parse(each, CultureInfo.InvariantCulture) : 5);
else
    BenchmarkSwitcher.FromAssembly(typeof(TransportCost).Assembly).Run(args);
