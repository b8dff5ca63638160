"""Environment variables whose values decide what a started program runs, whatever its command line says."""

from fnmatch import fnmatchcase

# What the variables of a line choose, as the end of "chooses ...". A `*` stands for any text.
_CHOOSES: tuple[tuple[str, str], ...] = (
    ("which programs are found", "PATH"),
    ("code that every program loads", "LD_* DYLD_* GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES"),
    ("code that JavaScript programs load", "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS"),
    (
        "code that Python programs load",
        "PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPLATLIBDIR "
        "PYTHONBREAKPOINT PYTHONWARNINGS PYTHONINSPECT PYTHONPYCACHEPREFIX __PYVENV_LAUNCHER__ "
        "VIRTUAL_ENV CONDA_PREFIX",
    ),
    (
        "code that Perl, Ruby, PHP and Lua programs load",
        "PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE BUNDLE_PATH "
        "PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH* LUA_CPATH*",
    ),
    (
        "code that Java and .NET programs load",
        "JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH DOTNET_STARTUP_HOOKS "
        "DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE DOTNET_ROOT* CORECLR_* COR_*",
    ),
    (
        "what shells run at startup",
        "BASH_ENV ENV ZDOTDIR PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS BASH_FUNC_* IFS SHELL",
    ),
    (
        "programs that Git and ssh start",
        "GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_EXEC_PATH GIT_PROXY_COMMAND GIT_EDITOR "
        "GIT_SEQUENCE_EDITOR GIT_PAGER GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_CONFIG* GIT_TEMPLATE_DIR "
        "GIT_DIR SSH_ASKPASS",
    ),
    ("programs that other programs open", "EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE"),
    ("where programs look for their settings", "HOME XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME"),
    ("the compiler and its options", "CC CXX LD RUSTC RUSTC_WRAPPER RUSTFLAGS CARGO_HOME GOFLAGS GOROOT"),
    ("which machine runs containers", "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG CONTAINER_HOST"),
    (
        "which certificates its connections trust",
        "NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE "
        "CURL_CA_BUNDLE AWS_CA_BUNDLE GIT_SSL_NO_VERIFY GIT_SSL_CAINFO PYTHONHTTPSVERIFY UV_INSECURE_HOST "
        "PIP_TRUSTED_HOST PIP_CERT",
    ),
)
# Their programs read these names in either case.
_CHOOSES_IN_ANY_CASE: tuple[tuple[str, str], ...] = (
    ("where its connections go", "HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY"),
    (
        "where packages come from and what is installed",
        "NPM_CONFIG_* YARN_* COREPACK_* PIP_* PIPX_* UV_*INDEX* UV_FIND_LINKS UV_*MIRROR* UV_PYTHON* "
        "UV_CONFIG_* UV_TOOL_* UV_CACHE_DIR UV_PROJECT* UV_OVERRIDE UV_*CONSTRAINT UV_WORKING_DIR* "
        "UV_ENV_FILE GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GOPRIVATE BUN_CONFIG_* DENO_*",
    ),
)
# Settings of package managers that are credentials, whose values are nobody's to read.
_CREDENTIALS = ("*AUTH*", "*TOKEN*", "*PASSWORD*", "*USERNAME*")


def chooses(name: str) -> str:
    """What the value of this variable chooses, as the end of "chooses ..."; "" for most variables."""
    for reason, names in _CHOOSES:
        if any(fnmatchcase(name, known) for known in names.split()):
            return reason
    upper = name.upper()
    if any(fnmatchcase(upper, known) for known in _CREDENTIALS):
        return ""
    for reason, names in _CHOOSES_IN_ANY_CASE:
        if any(fnmatchcase(upper, known) for known in names.split()):
            return reason
    return ""
